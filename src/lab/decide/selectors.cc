// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/selectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "lab/decide/match.h"

namespace assay::lab {
namespace {

constexpr std::size_t kLeastCommit = 4, kShownCommit = 12;
constexpr std::size_t kNamed = 6;  // of a long list, in a message of one line

std::string commit_of(const Row& row) { return row.provenance.commit.value_or(""); }

std::string quoted(std::string_view text) { return fmt::format("'{}'", fit(printable(text), 60)); }

std::string listed(const std::set<std::string>& names) {
  std::vector<std::string> shown;
  for (const auto& name : names) {
    if (shown.size() < kNamed) shown.push_back(fit(printable(name), 40));
  }
  if (names.size() > kNamed) shown.push_back(fmt::format("{} more", names.size() - kNamed));
  return fmt::format("{}", fmt::join(shown, ", "));
}

struct Known {
  std::set<std::string> providers, runs, commits;
};

std::set<std::string> beginning_with(const std::set<std::string>& all, std::string_view text) {
  std::set<std::string> found;
  for (const auto& one : all) {
    if (one == text) return {one};
    if (one.starts_with(text)) found.insert(one);
  }
  return found;
}

Selector provider_selector(const std::string& name) {
  return {SelectorKind::kProvider, name, "provider " + printable(name)};
}
Selector run_selector(const std::string& id) {
  return {SelectorKind::kRun, id, "run " + printable(id)};
}
Selector commit_selector(const std::string& id) {
  return {SelectorKind::kCommit, id, "commit " + printable(id.substr(0, kShownCommit))};
}
Selector source_selector(const std::string& path) {
  return {SelectorKind::kSource, path, printable(path)};
}

// All that the text may mean. An ambiguous beginning counts as several.
std::vector<Selector> meanings(const std::string& text, const Known& known, std::string_view kind,
                               const std::function<bool(const std::string&)>& is_source) {
  std::vector<Selector> found;
  const auto asked = [&](std::string_view name) { return kind.empty() || kind == name; };
  if (asked("provider") && known.providers.contains(text)) found.push_back(provider_selector(text));
  if (asked("run")) {
    for (const auto& id : beginning_with(known.runs, text)) found.push_back(run_selector(id));
  }
  if (asked("commit") && text.size() >= kLeastCommit) {
    for (const auto& id : beginning_with(known.commits, text)) found.push_back(commit_selector(id));
  }
  if (asked("source") && (kind == "source" || is_source(text)))
    found.push_back(source_selector(text));
  return found;
}

}  // namespace

Selector resolve_selector(std::string_view given, std::span<const Row> rows,
                          const std::function<bool(const std::string&)>& is_source) {
  if (given.empty())
    fail("an empty selector: name a provider, a run, a commit or a source, got ''");
  Known known;
  for (const Row& row : rows) {
    known.providers.insert(row.provider);
    known.runs.insert(row.run_id);
    if (auto commit = commit_of(row); !commit.empty() && commit != "unknown") {
      known.commits.insert(std::move(commit));
    }
  }
  std::string text(given), kind;
  for (const std::string_view name : {"provider", "run", "commit", "source"}) {
    const auto prefix = fmt::format("{}:", name);
    if (given.starts_with(prefix) && given.size() > prefix.size()) {
      kind = name;
      text = given.substr(prefix.size());
    }
  }
  const auto found = meanings(text, known, kind, is_source);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    fail("neither a provider ({}), nor a run, a commit or a source: {}",
         known.providers.empty() ? "none known" : listed(known.providers), quoted(given));
  }
  std::set<std::string> names;
  for (const auto& one : found) names.insert(one.name);
  fail("ambiguous, it may be {} (say which by provider:, run:, commit: or source:): {}",
       listed(names), quoted(given));
}

std::vector<Row> selected_rows(const Selector& selector, std::span<const Row> rows) {
  check(selector.kind != SelectorKind::kSource, "a source is read, not selected");
  std::vector<Row> selected;
  for (const Row& row : rows) {
    const bool wanted = selector.kind == SelectorKind::kProvider ? row.provider == selector.value
                        : selector.kind == SelectorKind::kRun    ? row.run_id == selector.value
                                                                 : commit_of(row) == selector.value;
    if (wanted) selected.push_back(row);
  }
  return selected;
}

void keep_newest_shared_runs(std::vector<Row>& a, std::vector<Row>& b) {
  struct Newest {
    std::string a, b, shared;
  };
  std::map<Place, Newest> newest;
  std::map<Place, std::set<std::string>> runs_of_a;
  for (const Row& row : a) {
    const auto key = place_of(row);
    auto& n = newest[key];
    if (is_void(row.status)) continue;
    n.a = std::max(n.a, row.run_id);
    runs_of_a[key].insert(row.run_id);
  }
  for (const Row& row : b) {
    const auto key = place_of(row);
    auto& n = newest[key];
    if (is_void(row.status)) continue;
    n.b = std::max(n.b, row.run_id);
    if (runs_of_a[key].contains(row.run_id)) n.shared = std::max(n.shared, row.run_id);
  }
  const auto drop = [&](std::vector<Row>& rows, std::string Newest::*own) {
    std::erase_if(rows, [&](const Row& row) {
      const auto& n = newest[place_of(row)];
      const auto& run = n.shared.empty() ? n.*own : n.shared;
      return !run.empty() && row.run_id != run;
    });
  };
  drop(a, &Newest::a);
  drop(b, &Newest::b);
}

}  // namespace assay::lab
