// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/bars.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/names.h"
#include "base/text.h"
#include "lab/beside/pairs.h"
#include "lab/beside/place.h"
#include "lab/beside/summary.h"
#include "lab/record/metrics.h"
#include "lab/record/point.h"
#include "lab/stats/median_interval.h"
#include "lab/stats/quantile.h"
#include "lab/stats/sign_interval.h"
#include "lab/stats/unpaired_ratio.h"

namespace assay::lab {
namespace {

constexpr double kConfidence = 0.95;

constexpr auto kVerdicts = make_names<BarVerdict>({{BarVerdict::kMet, "met"},
                                                   {BarVerdict::kMissed, "missed"},
                                                   {BarVerdict::kOpen, "open"},
                                                   {BarVerdict::kWrong, "wrong or failed"},
                                                   {BarVerdict::kNotMeasured, "not measured"}});

bool has_values(const Json& point, const Json& wanted) {
  return std::ranges::all_of(wanted.items(), [&](const auto& item) {
    const auto found = point.find(item.key());
    if (item.value().is_null()) return found == point.end();
    return found != point.end() && *found == item.value();
  });
}

bool is_of(const SeriesId& series, const BarSide& side) {
  return series.case_name == side.case_name && series.provider == side.provider &&
         (!side.cores || series.cores == *side.cores) && has_values(series.point, side.point);
}

// The rows that stand beside those of `own`: measured in the same way, on as many cores unless the
// bar says otherwise.
RowPointers rows_beside(const Bar& bar, BarSide other, const SeriesId& own,
                        const RowsBySeries& rows) {
  if (!other.cores) other.cores = own.cores;
  if (other.case_name == bar.side.case_name) {
    SeriesId wanted = own;
    wanted.provider = other.provider;
    wanted.cores = *other.cores;
    for (const auto& [key, value] : other.point.items()) {
      if (value.is_null()) {
        wanted.point.erase(key);
      } else {
        wanted.point[key] = value;
      }
    }
    const auto found = rows.find(wanted);
    return found != rows.end() ? found->second : RowPointers();
  }
  const std::pair<const SeriesId, RowPointers>* only = nullptr;
  for (const auto& series : rows) {
    const auto& [id, of_series] = series;
    if (!is_of(id, other) || id.platform != own.platform || id.isolation != own.isolation ||
        id.fingerprint != own.fingerprint) {
      continue;
    }
    if (only != nullptr) {
      fail("'{}': several points of {} could stand beside it: {} and {}", bar.what, other.case_name,
           point_label(only->first.point), point_label(id.point));
    }
    only = &series;
  }
  return only != nullptr ? only->second : RowPointers();
}

// Whether an attempt gave a wrong answer or none: what it was asked for was not reached there.
bool fell_short(std::span<const Row* const> rows) {
  return std::ranges::any_of(rows, [](const Row* row) {
    using enum Status;
    return row->status == kWrongResult || row->status == kCrashed || row->status == kOutOfMemory ||
           row->status == kTimeout || row->status == kFailed;
  });
}

// The plan itself left these out: they are not missing.
bool never_meant(std::span<const Row* const> rows) {
  return !rows.empty() && std::ranges::all_of(rows, [](const Row* row) {
    return left_out_on_purpose(row->status, row->failure);
  });
}

std::vector<double> values_of(const ByRound& by_round) {
  std::vector<double> values;
  for (const auto& [round, value] : by_round) values.push_back(value);
  return values;
}

// Of all ok attempts, or one for each run of what a run has one of. What is not paired need not
// have been made in turn.
std::vector<double> values_of(std::span<const Row* const> rows, const std::string& metric) {
  ByRound values;
  int count = 0;
  for (const Row* row : rows) {
    const double value = ok_value(*row, metric);
    if (!std::isnan(value)) values[{row->run_id, is_of_run(metric) ? 0 : count++}] = value;
  }
  return values_of(values);
}

void set_median(BarFigure& figure, const std::vector<double>& values) {
  figure.value = median(values);
  figure.interval = median_interval(values, kConfidence);
}

BarVerdict verdict_of(const Bar& bar, double low, double high) {
  // Ratios come from logarithms: what is equal may differ in the last digits.
  const auto slack = [](double bound) { return 1e-12 * std::abs(bound); };
  const double least = bar.at_least ? *bar.at_least - slack(*bar.at_least) : -INFINITY;
  const double most = bar.at_most ? *bar.at_most + slack(*bar.at_most) : INFINITY;
  if (low >= least && high <= most) return BarVerdict::kMet;
  return high < least || low > most ? BarVerdict::kMissed : BarVerdict::kOpen;
}

// One value for each run and device. Attempts at different places are not made in turn within the
// rounds of a run, but one after the other: what they share is the run.
ByRound by_run(const ByRound& by_round) {
  std::map<RoundId, std::vector<double>> runs;
  for (const auto& [round, value] : by_round) {
    runs[{round.run_id, 0, round.device}].push_back(value);
  }
  ByRound values;
  for (const auto& [run, of_run] : runs) values[run] = median(of_run);
  return values;
}

BarFigure figure_at(const Bar& bar, const SeriesId& series, const RowPointers& own,
                    const RowsBySeries& rows) {
  BarFigure figure;
  figure.point = series.point;
  const auto* other = bar.over ? &*bar.over : bar.minus ? &*bar.minus : nullptr;
  const auto beside = other != nullptr ? rows_beside(bar, *other, series, rows) : RowPointers();
  if (fell_short(own) || was_wrong(beside)) {
    figure.verdict = BarVerdict::kWrong;
    return figure;
  }
  const auto all = values_of(own, bar.side.metric);
  const auto all_beside =
      other != nullptr ? values_of(beside, other->metric) : std::vector<double>();
  if (all.empty() || (other != nullptr && all_beside.empty())) {
    figure.verdict = BarVerdict::kNotMeasured;
    return figure;
  }
  const auto seen = summarise_series(series, own, bar.side.metric);
  if (seen.unjudged) figure.remarks.emplace_back("no oracle");
  if (seen.above_ceiling) figure.remarks.emplace_back("above the measured ceiling");
  figure.rounds = static_cast<int>(all.size());
  if (other == nullptr) {
    set_median(figure, all);
  } else {
    if (own.front() == beside.front() && bar.side.metric == other->metric) {
      fail("'{}' stands beside itself", bar.what);
    }
    const auto a = values_by_round(own, bar.side.metric);
    const auto b = values_by_round(beside, other->metric);
    const bool in_turn = place_of(*own.front()) == place_of(*beside.front());
    const auto pairs = in_turn ? pair_rounds(a, b) : pair_rounds(by_run(a), by_run(b));
    figure.paired = pairs.rounds() >= (in_turn ? 1 : minimum_rounds(kConfidence));
    figure.rounds =
        figure.paired ? pairs.rounds() : static_cast<int>(std::min(all.size(), all_beside.size()));
    if (bar.over && figure.paired) {
      const auto ratio = *pairs.ratio();
      figure.value = ratio.ratio;
      figure.interval = ratio.interval;
    } else if (bar.over) {
      const auto ratio = unpaired_ratio(all_beside, all, kConfidence);
      figure.value = ratio.ratio;
      figure.interval = ratio.interval;
    } else {
      std::vector<double> differences;
      if (figure.paired) {
        for (std::size_t i = 0; i < pairs.a.size(); ++i) {
          differences.push_back(pairs.a[i] - pairs.b[i]);
        }
        set_median(figure, differences);
      } else {
        figure.value = median(all) - median(all_beside);
      }
    }
  }
  figure.value *= bar.factor;
  if (figure.interval) {
    figure.interval->low *= bar.factor;
    figure.interval->high *= bar.factor;
    figure.verdict = verdict_of(bar, figure.interval->low, figure.interval->high);
  }
  return figure;
}

// Means and totals are of medians; they have no interval, and are taken as they are.
BarFigure figure_of_all(const Bar& bar, const std::vector<BarFigure>& figures) {
  BarFigure all;
  all.rounds = figures.front().rounds;
  double sum = 0;
  for (const auto& figure : figures) {
    sum += bar.scope == BarScope::kMean ? std::log(figure.value) : figure.value;
    all.rounds = std::min(all.rounds, figure.rounds);
    all.paired = all.paired && figure.paired;
    for (const auto& remark : figure.remarks) {
      if (std::ranges::find(all.remarks, remark) == all.remarks.end())
        all.remarks.push_back(remark);
    }
  }
  all.value =
      bar.scope == BarScope::kMean ? std::exp(sum / static_cast<double>(figures.size())) : sum;
  all.verdict = verdict_of(bar, all.value, all.value);
  return all;
}

BarVerdict verdict_of_each(const Bar& bar, const BarResult& result) {
  const auto& figures = result.figures;
  const auto count = [&](BarVerdict verdict) {
    return static_cast<double>(std::ranges::count(figures, verdict, &BarFigure::verdict));
  };
  const double all = static_cast<double>(figures.size()) + result.unmeasured;
  if (count(BarVerdict::kWrong) > 0) return BarVerdict::kWrong;
  const double wanted = std::ceil(bar.share * all - 1e-9);  // a share is rarely a binary number
  if (count(BarVerdict::kMet) >= wanted) return BarVerdict::kMet;
  if (count(BarVerdict::kMissed) > all - wanted) return BarVerdict::kMissed;
  return BarVerdict::kOpen;
}

std::string machine_name(const BarFile& file, const Row& row) {
  const auto& machine = row.machine;
  const auto named = file.machines.find(machine.fingerprint);
  if (named != file.machines.end()) return named->second;
  auto name = machine.cpu_model.value_or("machine");
  if (machine.cores) name += ", " + plural(*machine.cores, "core");
  return name + ", " + machine.fingerprint;
}

BarMachine about_machine(const std::string& name, std::span<const Row* const> rows) {
  BarMachine machine{.name = name, .attempts = rows.size()};
  for (const Row* row : rows) {
    machine.runs.insert(row->run_id);
    const auto& made = row->provenance;
    machine.commits.insert(made.commit.value_or("not known").substr(0, 9) +
                           (made.dirty.value_or(false) ? " + changes" : ""));
    const auto day = made.time_start.value_or("").substr(0, 10);
    if (day.empty()) continue;
    if (machine.first.empty() || day < machine.first) machine.first = day;
    machine.last = std::max(machine.last, day);
  }
  return machine;
}

}  // namespace

std::string_view name_of(BarVerdict verdict) { return kVerdicts[verdict]; }

RowsBySeries by_series(std::span<const Row* const> rows) {
  RowsBySeries series;
  for (const Row* row : rows) series[series_of(*row)].push_back(row);
  for (auto& [id, own] : series) {
    std::ranges::sort(own, [](const Row* a, const Row* b) { return made_before(*a, *b); });
  }
  return series;
}

BarResult hold_to_bar(const Bar& bar, const RowsBySeries& rows) {
  BarResult result;
  const SeriesId *first = nullptr, *second = nullptr;
  for (const auto& [series, own] : rows) {
    if (!is_of(series, bar.side)) continue;
    auto figure = figure_at(bar, series, own, rows);
    if (figure.verdict == BarVerdict::kNotMeasured) {
      const auto* other = bar.over ? &*bar.over : bar.minus ? &*bar.minus : nullptr;
      const bool meant = !never_meant(own) &&
                         !(other != nullptr && never_meant(rows_beside(bar, *other, series, rows)));
      result.unmeasured += meant && bar.scope != BarScope::kOne;
      continue;
    }
    (first == nullptr ? first : second) = &series;
    result.figures.push_back(std::move(figure));
  }
  if (result.figures.empty()) return result;
  const auto count = static_cast<int>(result.figures.size());
  result.unmeasured = std::max(result.unmeasured, bar.expected - count);
  const bool wrong = std::ranges::any_of(
      result.figures, [](const BarFigure& figure) { return figure.verdict == BarVerdict::kWrong; });
  switch (bar.scope) {
    case BarScope::kOne:
      if (second != nullptr) {
        fail("'{}' is about one place, and there are {} and {}", bar.what,
             canonical_json(first->to_json()), canonical_json(second->to_json()));
      }
      result.verdict = result.figures.front().verdict;
      break;
    case BarScope::kEach:
      result.verdict = verdict_of_each(bar, result);
      break;
    case BarScope::kMean:
    case BarScope::kTotal:
      if (!wrong) result.figures = {figure_of_all(bar, result.figures)};
      result.verdict = wrong                   ? BarVerdict::kWrong
                       : result.unmeasured > 0 ? BarVerdict::kOpen
                                               : result.figures.front().verdict;
  }
  return result;
}

bool BarOutcome::any(BarVerdict verdict) const {
  for (const auto& section : sections) {
    for (const auto& line : section.lines) {
      for (const auto& result : line.results) {
        if (result.verdict == verdict) return true;
      }
    }
  }
  return false;
}

BarOutcome hold_to_bars(const BarFile& file, std::span<const Row> rows) {
  std::map<std::string, RowPointers> by_machine;  // by name: hardware that changed a little is one
  for (const auto& row : rows) by_machine[machine_name(file, row)].push_back(&row);
  BarOutcome outcome;
  outcome.title = file.title;
  std::vector<RowsBySeries> series;
  for (const auto& [machine, own] : by_machine) {
    outcome.machines.push_back(about_machine(machine, own));
    series.push_back(by_series(own));
  }
  for (const auto& table : file.tables) {
    BarOutcome::Section section{table.title, table.commands, {}};
    for (const auto& bar : table.bars) {
      BarOutcome::Line line{bar, {}};
      for (const auto& own : series) line.results.push_back(hold_to_bar(bar, own));
      section.lines.push_back(std::move(line));
    }
    outcome.sections.push_back(std::move(section));
  }
  return outcome;
}

}  // namespace assay::lab
