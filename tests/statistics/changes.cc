// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Kind 6: change points in histories that have none, and in those that have one.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "findings.h"
#include "lab/stats/change_points.h"
#include "lab/stats/quantile.h"
#include "noise_models.h"

namespace assay::lab::validation {
namespace {

constexpr int kPoints = 100;

struct History {
  double correlation = 0, spikes = 0;
  int change_at = kPoints;
  double step = 0;  // in σ
};

std::vector<SeriesPoint> draw(const History& h, int points, RandomStream& random) {
  std::vector<SeriesPoint> series;
  double state = random.normal();
  for (int i = 0; i < points; ++i) {
    if (i > 0) {
      state =
          h.correlation * state + std::sqrt(1 - h.correlation * h.correlation) * random.normal();
    }
    const double spike = random.unit() < h.spikes ? 10 : 0;
    series.push_back({state + spike + (i >= h.change_at ? h.step : 0), 1});
  }
  return series;
}

Table stationary(const Effort& effort) {
  const int trials = effort.trials(2000, 50);
  Table table{
      "Change points where there are none",
      fmt::format("{} points, {} histories, 999 permutations, level 1 %. Share of histories "
                  "with any change point. Spikes are 10 σ. Bound: 1 % for independent "
                  "points, 10 % with correlation or spikes.",
                  kPoints, trials),
      {"history", "false rate", "shuffled in blocks"},
      {}};
  struct Kind {
    const char* name;
    History history;
    double bound;
  };
  for (const auto& kind :
       {Kind{"independent", {}, 0.01}, Kind{"AR(1) 0.3", {.correlation = 0.3}, 0.10},
        Kind{"2 % spikes", {.spikes = 0.02}, 0.10},
        Kind{"AR(1) 0.3 and 2 % spikes", {.correlation = 0.3, .spikes = 0.02}, 0.10}}) {
    int alarms = 0, blocks = 0;
    for (int t = 0; t < trials; ++t) {
      const auto seed = static_cast<std::uint64_t>(t);
      auto random = stream(t, kind.name);
      const auto found = change_points(draw(kind.history, kPoints, random), {.seed = seed});
      alarms += !found.points.empty();
      blocks += found.blocks;
    }
    table.add({kind.name, percent(static_cast<double>(alarms) / trials, 2),
               percent(static_cast<double>(blocks) / trials, 0)},
              can_be_at_most(alarms, trials, kind.bound) ? Outcome::kWithin : Outcome::kOutside);
  }
  return table;
}

// The first number of points after the change at which it is reported, looking after each.
int delay_of(const std::vector<SeriesPoint>& series, int change_at, std::uint64_t seed) {
  for (int after = 5; change_at + after <= static_cast<int>(series.size()); ++after) {
    const auto found = change_points(
        std::span(series).first(static_cast<std::size_t>(change_at + after)), {.seed = seed});
    if (!found.points.empty()) return after;
  }
  return static_cast<int>(series.size());
}

Table steps(const Effort& effort) {
  const int trials = effort.trials(500, 40), watched = effort.trials(50, 5);
  Table table{
      "Change points where there is one",
      fmt::format("{} points, a step after 50, {} histories; distance of the nearest change point "
                  "from the step, over histories in which it was found; delay: points after the "
                  "step until it is first reported when the history grows point by point ({} "
                  "histories; five is the least). Bounds: a step of 2 σ is found in 95 %, one of 3 "
                  "σ in 99 %, half of them within 1 point.",
                  kPoints, trials, watched),
      {"step", "found", "median distance", "90 % within", "median delay", "90 % of delays"},
      {}};
  for (const double step : {1.0, 2.0, 3.0}) {
    const History history{.change_at = 50, .step = step};
    int found_count = 0;
    std::vector<double> distances, delays;
    for (int t = 0; t < trials; ++t) {
      const auto seed = static_cast<std::uint64_t>(t);
      auto random = stream(t, fmt::format("step{}", step));
      const auto series = draw(history, kPoints, random);
      const auto found = change_points(series, {.seed = seed});
      if (!found.points.empty()) {
        ++found_count;
        double nearest = kPoints;
        for (const auto& point : found.points) {
          nearest = std::min(nearest, std::fabs(static_cast<double>(point.index) - 50));
        }
        distances.push_back(nearest);
      }
      if (t < watched) delays.push_back(delay_of(series, 50, seed));
    }
    if (distances.empty()) distances.push_back(kPoints);
    const double wanted = step >= 3 ? 0.99 : step >= 2 ? 0.95 : 0;
    const bool within =
        can_be_at_least(found_count, trials, wanted) && (step < 2 || median(distances) <= 1);
    const auto late = [](double delay) {
      return delay > 50 ? std::string("> 50") : fmt::format("{:.0f}", delay);
    };
    table.add(
        {fmt::format("{:.0f} σ", step), percent(static_cast<double>(found_count) / trials),
         fmt::format("{:.0f}", median(distances)), fmt::format("{:.0f}", quantile(distances, 0.9)),
         late(median(delays)), late(quantile(delays, 0.9))},
        step < 2 ? Outcome::kShown
        : within ? Outcome::kWithin
                 : Outcome::kOutside);
  }
  return table;
}

}  // namespace

std::vector<Table> changes(const Effort& effort) { return {stationary(effort), steps(effort)}; }

}  // namespace assay::lab::validation
