// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/time_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "cases/own/command_workload.h"
#include "lab/beside/pairs.h"
#include "lab/record/point.h"
#include "lab/show/terminal/cells.h"
#include "lab/show/terminal/table.h"
#include "lab/stats/detectable.h"
#include "lab/stats/median_interval.h"
#include "lab/stats/quantile.h"

namespace assay::cli {
namespace {

constexpr int kWidestCommand = 40, kBars = 20;
constexpr double kShortWithShell = 5e-3;  // seconds: hyperfine warns there too
constexpr double kOutlier = 10;           // robust deviations from the median, as in hyperfine

// What is known of one command at one point.
struct Timed {
  const TimedCommand* command = nullptr;
  const lab::Summary* summary = nullptr;
  std::vector<const lab::Row*> rows;  // measured ones, in the order they were made
  std::vector<double> seconds;        // of all runs
};

std::vector<Timed> timed_of(const TimedCase& timed, std::span<const lab::Row> rows,
                            std::span<const lab::Summary> summaries) {
  std::vector<Timed> all;
  std::vector<lab::Place> places;
  for (const auto& s : summaries) {
    const lab::Place& place = s;
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
  for (const auto& place : places) {
    for (const auto& command : timed.commands) {
      for (const auto& s : summaries) {
        const lab::Place& of = s;
        if (!(of == place) || s.provider != command.id) continue;
        Timed one{&command, &s, {}, {}};
        for (const auto& row : rows) {
          if (!(lab::series_of(row) == s) || !lab::is_measured(row.status)) continue;
          one.rows.push_back(&row);
        }
        std::ranges::sort(one.rows, [](auto* a, auto* b) { return lab::made_before(*a, *b); });
        for (const auto* row : one.rows) {
          const auto& runs = row->samples.steady_s();
          one.seconds.insert(one.seconds.end(), runs.begin(), runs.end());
        }
        all.push_back(std::move(one));
      }
    }
  }
  return all;
}

std::vector<double> sampled(const Timed& t, const std::string& name) {
  std::vector<double> values;
  for (const auto* row : t.rows) {
    const auto& list = row->samples[name];
    values.insert(values.end(), list.begin(), list.end());
  }
  return values;
}

std::string median_text(const Timed& t, const std::string& sample) {
  const auto values = sampled(t, sample);
  if (values.empty()) return "–";
  const double middle = lab::median(values);
  return middle > 0 ? format_seconds(middle) : "0 s";  // less than the system counts
}

std::string interval_text(const Timed& t) {
  const auto values = t.summary->values(lab::Status::kOk);
  const auto interval = values.empty() ? std::nullopt : lab::median_interval(values);
  if (!interval) return "–";
  return fmt::format("{} – {}", format_seconds(interval->low), format_seconds(interval->high));
}

// Run by run where that fits, else attempt by attempt.
std::string bars_text(const Timed& t) {
  if (t.seconds.size() > kBars || t.seconds.size() < t.summary->attempts.size()) {
    return lab::sparkline(t.summary->attempts, kBars);
  }
  std::vector<lab::Attempt> runs;
  for (const double value : t.seconds) runs.push_back({lab::Status::kOk, value});
  return lab::sparkline(runs, kBars);
}

std::string shown(const Timed& t) { return fit(printable(t.command->name), kWidestCommand); }

// Its time is its shell's: nothing is left to compare.
bool is_nothing(const Timed& t) {
  return !t.seconds.empty() && lab::median(t.seconds) <= cases::own::kNothingLeft;
}

// The command that this one is held against: itself, where it is that one.
const Timed* baseline_of(const Timed& t, const std::vector<Timed>& all) {
  const auto found = std::ranges::find_if(all, [&](const Timed& other) {
    const lab::Place &place = *t.summary, &of = *other.summary;
    return other.summary->is_baseline && of == place;
  });
  return found == all.end() ? nullptr : &*found;
}

// A ratio to nothing, or of it, says nothing.
bool can_compare(const Timed& t, const std::vector<Timed>& all) {
  const auto* base = baseline_of(t, all);
  return !is_nothing(t) && base != nullptr && !is_nothing(*base);
}

bool has_meaning(const Timed& t, const std::vector<Timed>& all) {
  return t.summary->status != lab::Status::kOk || can_compare(t, all);
}
std::string verdict_of(const Timed& t, const std::vector<Timed>& all) {
  return has_meaning(t, all) ? lab::verdict_cell(*t.summary) : "nothing to compare";
}

// What the rounds could have shown of this command against its baseline.
std::string detectable_text(const Timed& t, const std::vector<Timed>& all) {
  if (t.summary->is_baseline || !t.summary->ratio || !t.summary->ratio->interval) return {};
  if (!can_compare(t, all)) return {};
  const auto pairs = lab::pairs_beside(t.rows, baseline_of(t, all)->rows, t.summary->metric);
  const auto d = pairs.log_ratios();
  if (d.size() < 2) return {};
  const double effect =
      lab::minimum_detectable_effect(lab::robust_sigma(d), static_cast<int>(d.size()));
  return fmt::format("{}: the smallest difference that {} could have shown is about {:.2g} %",
                     shown(t), plural(static_cast<int>(d.size()), "round"), 100 * effect);
}

// Runs far from all others, by the median absolute deviation.
std::vector<std::size_t> outliers_of(const std::vector<double>& seconds) {
  if (seconds.size() < 5) return {};
  const double middle = lab::median(seconds);
  std::vector<double> away;
  for (const double value : seconds) away.push_back(std::abs(value - middle));
  const double scatter = 1.4826 * lab::median(away);
  std::vector<std::size_t> outliers;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (scatter > 0 && away[i] > kOutlier * scatter) outliers.push_back(i);
  }
  return outliers;
}

std::vector<std::string> notes_about(const Timed& t) {
  std::vector<std::string> notes;
  const auto say = [&](const std::string& what) {
    notes.push_back(fmt::format("note: {}: {}", shown(t), what));
  };
  for (const auto& caveat : t.summary->caveats) say(caveat);
  if (t.summary->status == lab::Status::kWrongResult && t.summary->failure) {
    say(fit(printable(t.summary->failure->message), 300));
  }
  if (t.seconds.empty()) return notes;
  const double middle = lab::median(t.seconds);
  const double shell = t.rows.back()->metric_or_nan("shell_time");
  if (shell > 0 && middle < shell) {
    say(fmt::format(
        "{} is less than the start of its shell ({}), which was taken off: what is left "
        "says little; -N starts it without",
        format_seconds(middle), format_seconds(shell)));
  } else if (shell > 0 && middle < kShortWithShell) {
    say(fmt::format(
        "takes less than 5 ms; the start of its shell ({}) was taken off, and -N is more "
        "precise",
        format_seconds(shell)));
  }
  const auto codes = sampled(t, "exit_code");
  const auto failed = std::ranges::count_if(codes, [](double code) { return code != 0; });
  if (failed > 0) {
    const auto first = *std::ranges::find_if(codes, [](double code) { return code != 0; });
    say(fmt::format("{} of {} runs did not end with exit status 0, but with {:.0f}: ignored",
                    failed, codes.size(), first));
  }
  const auto outliers = outliers_of(t.seconds);
  if (!outliers.empty() && outliers.front() == 0 && t.seconds[0] > middle) {
    say(fmt::format(
        "the first run took {}, far more than the rest: caches, perhaps; --warm-up 1 or "
        "--prepare make all runs alike",
        format_seconds(t.seconds[0])));
  } else if (!outliers.empty()) {
    say(
        fmt::format("{} far from the rest (the median does not mind): something else ran, or the "
                    "command does not do the same each time",
                    plural(static_cast<int>(outliers.size()), "run")));
  }
  return notes;
}

}  // namespace

std::string time_table(const TimedCase& timed, std::span<const lab::Row> rows,
                       std::span<const lab::Summary> summaries, const lab::TableStyle& style) {
  const auto all = timed_of(timed, rows, summaries);
  lab::Grid grid;
  grid.columns = {{"command", false, 0}, {"median", true, 0}, {"interval", false, 4},
                  {"ratio", false, 0},   {"user", true, 3},   {"system", true, 3},
                  {"memory", true, 2},   {"runs", true, 5},   {"in order", false, 1},
                  {"verdict", false, 0}};
  for (const auto& t : all) {
    const auto& s = *t.summary;
    const bool has_ratio = has_meaning(t, all);
    const auto verdict = verdict_of(t, all);
    lab::GridRow row{lab::group_title(s),
                     {shown(t), is_nothing(t) ? "~0 s" : lab::median_cell(s),
                      is_nothing(t) ? "–" : interval_text(t), has_ratio ? lab::ratio_cell(s) : "–",
                      median_text(t, "user_time"), median_text(t, "system_time"),
                      lab::memory_cell(s), std::to_string(t.seconds.size()), bars_text(t), verdict},
                     ""};
    if (s.status != lab::Status::kOk) {
      row.colour = lab::kRed;
    } else if (verdict.starts_with("faster")) {
      row.colour = lab::kGreen;
    } else if (verdict.starts_with("slower")) {
      row.colour = lab::kYellow;
    }
    grid.rows.push_back(std::move(row));
  }
  for (const auto& t : all) {
    if (auto text = detectable_text(t, all); !text.empty()) grid.notes.push_back(std::move(text));
  }
  for (const auto& t : all) {
    for (auto& note : notes_about(t)) grid.notes.push_back(std::move(note));
  }
  return lab::render_grid(grid, style);
}

Json time_json(const TimedCase& timed, const lab::RunResult& result,
               std::span<const lab::Summary> summaries) {
  auto json = lab::summary_json(result.run_id, result.journal, summaries);
  const auto all = timed_of(timed, result.rows, summaries);
  for (const auto& t : all) {
    auto& entry = json["results"][static_cast<std::size_t>(t.summary - summaries.data())];
    entry["verdict"] = verdict_of(t, all);
    entry["is_shell_alone"] = is_nothing(t);
    if (has_meaning(t, all)) continue;
    for (const char* key : {"ratio", "ratio_low", "ratio_high", "p_adjusted"}) entry[key] = nullptr;
  }
  return json;
}

std::vector<lab::CommandRuns> command_runs(const TimedCase& timed, std::span<const lab::Row> rows,
                                           std::span<const lab::Summary> summaries) {
  std::vector<lab::CommandRuns> list;
  for (const auto& t : timed_of(timed, rows, summaries)) {
    if (t.seconds.empty()) continue;
    lab::CommandRuns runs;
    runs.command = t.command->shown;
    runs.parameters = t.command->parameters;
    for (const auto& name : timed.point_parameters) {
      const auto& value = t.summary->point.at(name);
      runs.parameters[name] = value.is_string() ? value.get<std::string>() : canonical_json(value);
    }
    runs.seconds = t.seconds;
    runs.user_s = sampled(t, "user_time");
    runs.system_s = sampled(t, "system_time");
    for (const double code : sampled(t, "exit_code")) {
      runs.exit_codes.push_back(static_cast<int>(code));
    }
    if (!t.summary->is_baseline) runs.ratio = t.summary->ratio;
    list.push_back(std::move(runs));
  }
  return list;
}

}  // namespace assay::cli
