// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/terminal/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "lab/record/point.h"
#include "lab/show/terminal/cells.h"

namespace assay::lab {
namespace {

constexpr int kSparkline = 20;
constexpr int kLongestName = 40;

struct Column {
  const char* title;
  std::string (*cell)(const Summary&);
  bool right_aligned;
  int drop;
};

std::string provider_cell(const Summary& s) { return fit(printable(s.provider), kLongestName); }
std::string attempts_cell(const Summary& s) { return sparkline(s.attempts, kSparkline); }

constexpr std::array<Column, 8> kColumns = {{
    {"provider", provider_cell, false, 0},
    {"median", median_cell, true, 0},
    {"ratio", ratio_cell, false, 0},
    {"of limit", limit_cell, true, 4},
    {"error/tol", fidelity_cell, true, 3},
    {"memory", memory_cell, true, 2},
    {"attempts", attempts_cell, false, 1},
    {"verdict", verdict_cell, false, 0},
}};

using Order = std::vector<const Summary*>;

void put_worst_first(Order& order) {
  const auto badness = [](const Summary* s) {
    return s->status != Status::kOk ? 1e300 : s->ratio ? s->ratio->ratio : 0;
  };
  for (auto first = order.begin(); first != order.end();) {
    const auto title = group_title(**first);
    const auto last = std::find_if(first, order.end(),
                                   [&](const Summary* s) { return group_title(*s) != title; });
    std::ranges::stable_sort(first, last, std::greater<>(), badness);
    first = last;
  }
}

std::string colour_of(const Summary& s) {
  if (s.status == Status::kSkipped || s.status == Status::kEnvMissing || is_void(s.status)) {
    return kYellow;
  }
  if (s.status != Status::kOk) return kRed;
  const auto verdict = verdict_cell(s);
  return verdict.starts_with("faster") ? kGreen : verdict.starts_with("slower") ? kYellow : "";
}

bool was_not_measured(const Summary* s) {
  return s->status == Status::kSkipped || s->status == Status::kEnvMissing;
}

// Who was not measured, a line for each kind of reason, with the first message as an example.
std::vector<std::string> absence_notes(const Order& absent) {
  struct Reason {
    std::vector<std::string> providers;
    std::string message;
  };
  using Kind = std::tuple<Status, std::string, bool>;  // code; whether the case is in a file
  std::map<Kind, Reason> reasons;
  for (const Summary* s : absent) {
    const auto code = s->failure ? s->failure->code : std::string();
    auto& reason = reasons[{s->status, code, !s->problem.empty()}];
    const auto provider = provider_cell(*s);
    if (reason.message.empty() && s->failure) reason.message = s->failure->message;
    if (std::ranges::find(reason.providers, provider) == reason.providers.end()) {
      reason.providers.push_back(provider);
    }
  }
  std::vector<std::string> notes;
  for (const auto& [kind, reason] : reasons) {
    const auto& [status, code, is_own] = kind;
    const auto remedy = code != "module_missing" ? ""
                        : is_own ? "; its pip installs it, or ASSAY_PYTHON names another Python"
                                 : "; 'make peers' installs it";
    notes.push_back(fmt::format(
        "{}: {} ({}{})", status == Status::kEnvMissing ? "not here" : "left out",
        fmt::join(reason.providers, ", "), fit(printable(reason.message), 160), remedy));
  }
  return notes;
}

// Each caveat once, with those it is about.
std::vector<std::string> caveat_notes(const Order& summaries) {
  std::vector<std::string> notes;
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Summary*>> about;
  for (const Summary* s : summaries) {
    for (const auto& caveat : s->caveats) {
      auto& list = about[caveat];
      if (list.empty()) order.push_back(caveat);
      list.push_back(s);
    }
  }
  for (const auto& caveat : order) {
    const auto& list = about[caveat];
    std::vector<std::string> names;
    for (const Summary* s : list) {
      if (std::ranges::find(names, provider_cell(*s)) == names.end()) {
        names.push_back(provider_cell(*s));
      }
    }
    const auto more = names.size() > 4 ? fmt::format(" and {} more", names.size() - 4) : "";
    if (names.size() > 4) names.resize(4);
    const bool everywhere = list.size() == summaries.size() && summaries.size() > 1;
    notes.push_back(everywhere
                        ? fmt::format("note: {}", caveat)
                        : fmt::format("note: {}{}: {}", fmt::join(names, ", "), more, caveat));
  }
  return notes;
}

}  // namespace

std::string group_title(const Place& s) {
  const auto point = fit(printable(point_label(s.point)), 200);
  // Files of other tools do not say how many cores an attempt had.
  const auto cores = s.cores == 0 ? "cores not known" : plural(s.cores, "core");
  return fmt::format("{} {}{}{}, {}{}{}", fit(printable(s.case_name), kLongestName), point,
                     point.empty() ? "" : ", ", fit(printable(s.platform), kLongestName), cores,
                     s.fingerprint.empty() ? "" : ", machine ", fit(printable(s.fingerprint), 16)) +
         (s.isolation == "in-process" ? ", in process" : "");
}

std::string terminal_table(std::span<const Summary> summaries, const TableStyle& style,
                           std::span<const std::string> notes) {
  if (summaries.empty()) return "no rows\n";
  Order order;
  for (const Summary& s : summaries) order.push_back(&s);
  Order absent;
  if (!style.all && !std::ranges::all_of(order, was_not_measured)) {
    std::ranges::copy_if(order, std::back_inserter(absent), was_not_measured);
    std::erase_if(order, was_not_measured);
  }
  if (style.worst_first) put_worst_first(order);
  Grid grid;
  for (const auto& column : kColumns) {
    grid.columns.push_back({column.title, column.right_aligned, column.drop});
  }
  for (const Summary* s : order) {
    GridRow row{group_title(*s), {}, colour_of(*s)};
    for (const auto& column : kColumns) row.cells.push_back(column.cell(*s));
    grid.rows.push_back(std::move(row));
  }
  grid.notes = caveat_notes(order);
  for (auto& note : absence_notes(absent)) grid.notes.push_back(std::move(note));
  for (const auto& note : notes) grid.notes.push_back("note: " + printable(note));
  return render_grid(grid, style);
}

}  // namespace assay::lab
