// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/units.h"
#include "lab/show/markdown/markdown.h"
#include "lab/show/markdown/report_sections.h"

namespace assay::lab {
namespace {

constexpr const char* kNotKnown = "–";

std::string text_or_unknown(const std::optional<std::string>& text) {
  return text && !text->empty() ? markdown_text(*text, 60) : kNotKnown;
}

// {"a": 1, "b": "x"} as "a 1, b x".
std::string pairs(const std::optional<Json>& object) {
  std::string text;
  if (!object || !object->is_object()) return text;
  for (const auto& [key, value] : object->items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key,
                        value.is_string() ? value.get<std::string>() : canonical_json(value));
  }
  return text;
}

struct Run {
  const Row* first = nullptr;  // any row: the facts of a run are in each of them
  std::string started, ended;
  std::set<int> rounds;
  int rows = 0, not_ok = 0;
  double harness_s = NAN;  // an empty attempt
};

std::string commit_cell(const Provenance& provenance) {
  const auto text = provenance.commit.value_or("");
  if (text.empty()) return kNotKnown;
  // A full hash is 40 digits; twelve are enough to find it.
  std::string cell = markdown_text(text.substr(0, 12), 40);
  if (const auto& branch = provenance.branch; branch && !branch->empty()) {
    cell += fmt::format(" ({})", markdown_text(*branch, 40));
  }
  if (provenance.dirty.value_or(false)) cell += ", with changes";
  return cell;
}

// "- Title: text (runs …)" for each different text; without the runs where there is only one.
std::string facts_by_run(const std::string& title, const std::map<std::string, Run>& runs,
                         std::string (*fact)(const Row&)) {
  std::map<std::string, std::vector<std::string>> by_text;
  for (const auto& [run_id, run] : runs) by_text[fact(*run.first)].push_back(run_id);
  std::string list;
  for (const auto& [text, of] : by_text) {
    if (text.empty()) continue;
    list += fmt::format("- {}: {}", title, markdown_text(text, 400));
    if (by_text.size() > 1) {
      list += fmt::format(" (run {}{})", markdown_text(of.front(), 60),
                          of.size() > 1 ? fmt::format(" and {} more", of.size() - 1) : "");
    }
    list += "\n";
  }
  return list;
}

std::string build_fact(const Row& row) {
  const auto part = [](const char* before, const std::optional<std::string>& text) {
    return text && !text->empty() ? before + *text : std::string();
  };
  const auto& p = row.provenance;
  auto text =
      part("assay ", p.assay_version) + part(", compiled with ", p.compiler) + part(" ", p.flags);
  if (text.starts_with(", ")) text.erase(0, 2);
  return text;
}

std::string settings_fact(const Row& row) {
  auto text = pairs(row.provenance.settings);
  if (const auto seed = row.provenance.order_seed) {
    text += fmt::format("{}order seed {}", text.empty() ? "" : ", ", *seed);
  }
  if (const auto& isolation = row.provenance.isolation) {
    text += fmt::format("{}isolation {}", text.empty() ? "" : ", ", *isolation);
  }
  return text;
}

std::string environment_fact(const Row& row) { return pairs(row.provenance.environment); }

std::string versions(std::span<const Row> rows) {
  std::map<std::string, std::set<std::string>> by_text;
  for (const Row& row : rows) {
    const auto text = pairs(row.provenance.versions);
    if (!text.empty()) by_text[text].insert(row.provider);
  }
  std::string list;
  for (const auto& [text, providers] : by_text) {
    std::string names;
    for (const auto& provider : providers) {
      names += (names.empty() ? "" : ", ") + markdown_text(provider, 40);
    }
    list += fmt::format("- Versions for {}: {}\n", names, markdown_text(text, 400));
  }
  return list;
}

}  // namespace

MachineNames name_machines(std::span<const Row> rows) {
  MachineNames names;
  for (const Row& row : rows) names[row.machine.fingerprint];
  int number = 0;
  for (auto& [fingerprint, name] : names) name = fmt::format("M{}", ++number);
  return names;
}

std::string runs_section(std::span<const Row> rows) {
  std::map<std::string, Run> runs;
  for (const Row& row : rows) {
    Run& run = runs[row.run_id];
    if (run.first == nullptr || row.attempt_id < run.first->attempt_id) run.first = &row;
    const auto start = row.provenance.time_start.value_or("");
    const auto end = row.provenance.time_end.value_or("");
    if (!start.empty() && (run.started.empty() || start < run.started)) run.started = start;
    run.ended = std::max(run.ended, end);
    run.rounds.insert(row.round);
    ++run.rows;
    run.not_ok += row.status != Status::kOk;
    run.harness_s = std::fmax(run.harness_s, row.metric_or_nan("harness_overhead"));
  }
  std::vector<std::vector<std::string>> table;
  for (const auto& [run_id, run] : runs) {
    const auto& p = run.first->provenance;
    table.push_back({markdown_text(run_id, 60), text_or_unknown(run.started),
                     text_or_unknown(run.ended), text_or_unknown(p.label), text_or_unknown(p.mode),
                     commit_cell(p),
                     std::isnan(run.harness_s) ? kNotKnown : format_seconds(run.harness_s),
                     fmt::format("{}", run.rounds.size()), fmt::format("{}", run.rows),
                     fmt::format("{}", run.not_ok)});
  }
  auto text =
      "## What was run\n\n" + markdown_table({"Run", "From", "To", "Label", "Mode", "Commit",
                                              "Empty attempt", "Rounds", "Attempts", "Not ok"},
                                             "llllllrrrr", table);
  const auto facts = facts_by_run("Build", runs, build_fact) +
                     facts_by_run("Settings", runs, settings_fact) +
                     facts_by_run("Environment", runs, environment_fact) + versions(rows);
  return facts.empty() ? text : text + "\n" + facts;
}

std::string machines_section(std::span<const Row> rows, const MachineNames& machines) {
  std::map<std::string, const Row*> newest;  // facts beside the fingerprint may change with time
  for (const Row& row : rows) {
    const Row*& best = newest[row.machine.fingerprint];
    if (best == nullptr ||
        std::tie(row.run_id, row.attempt_id) > std::tie(best->run_id, best->attempt_id)) {
      best = &row;
    }
  }
  std::vector<std::vector<std::string>> table;
  for (const auto& [fingerprint, row] : newest) {
    const auto& m = row->machine;
    const auto count = [](const std::optional<std::int64_t>& n) {
      return n ? fmt::format("{}", *n) : std::string(kNotKnown);
    };
    std::string gpus;
    for (const auto& gpu : m.gpus.value_or(std::vector<std::string>())) {
      gpus += (gpus.empty() ? "" : ", ") + markdown_text(gpu, 60);
    }
    table.push_back(
        {machines.at(fingerprint), fingerprint.empty() ? kNotKnown : markdown_text(fingerprint, 40),
         text_or_unknown(m.cpu_model), count(m.sockets), count(m.cores),
         m.memory_bytes ? format_bytes(static_cast<double>(*m.memory_bytes)) : kNotKnown,
         gpus.empty() ? "none" : gpus, text_or_unknown(m.os), text_or_unknown(m.kernel),
         text_or_unknown(m.governor)});
  }
  return "## Machines\n\n" + markdown_table({"Name", "Fingerprint", "Processor", "Sockets", "Cores",
                                             "Memory", "GPUs", "System", "Kernel", "Governor"},
                                            "lllrrrllll", table);
}

}  // namespace assay::lab
