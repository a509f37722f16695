// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Kind 6: change points in histories that have none, one, or several, alone and among many.

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
  double correlation = 0, spikes = 0, walk = 0;
  int change_at = kPoints;
  double step = 0;  // in σ
};

Series draw(const History& h, int points, RandomStream& random) {
  Series series;
  double state = random.normal(), wandered = 0;
  for (int i = 0; i < points; ++i) {
    if (i > 0) {
      state =
          h.correlation * state + std::sqrt(1 - h.correlation * h.correlation) * random.normal();
    }
    wandered += h.walk * random.normal();
    const double spike = random.unit() < h.spikes ? 10 : 0;
    series.push_back({state + spike + wandered + (i >= h.change_at ? h.step : 0), 1});
  }
  return series;
}

Table stationary(const Effort& effort) {
  const int trials = effort.trials(2000, 50);
  Table table{
      "Change points where there are none",
      fmt::format("{} points, {} histories, 999 permutations, level 1 %. Share of histories "
                  "with any change point. Spikes are 10 σ. Bound: 1 % for independent "
                  "points, 10 % with correlation or spikes; what wanders by itself is shown.",
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
        Kind{"AR(1) 0.3 and 2 % spikes", {.correlation = 0.3, .spikes = 0.02}, 0.10},
        Kind{"AR(1) 0.6", {.correlation = 0.6}, 1},
        Kind{"random walk, steps of σ/2", {.walk = 0.5}, 1}}) {
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
              kind.bound == 1                              ? Outcome::kShown
              : can_be_at_most(alarms, trials, kind.bound) ? Outcome::kWithin
                                                           : Outcome::kOutside);
  }
  return table;
}

// The first number of points after the change at which it is reported, looking after each.
int delay_of(const Series& series, int change_at, std::uint64_t seed) {
  for (int after = 5; change_at + after <= static_cast<int>(series.size()); ++after) {
    const auto found =
        change_points(Series(series.begin(), series.begin() + change_at + after), {.seed = seed});
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

// Levels in units of 1 % noise, one after the other.
struct Levels {
  const char* name;
  std::vector<std::pair<int, double>> parts;  // points, level
};

Series draw_levels(const Levels& levels, RandomStream& random) {
  Series series;
  for (const auto& [count, level] : levels.parts) {
    for (int i = 0; i < count; ++i) series.push_back({std::log(level) + 0.01 * random.normal(), 1});
  }
  return series;
}

Table several_steps(const Effort& effort) {
  const int trials = effort.trials(400, 20);
  Table table{
      "Change points where there are several",
      fmt::format(
          "Noise of 1 %, {} histories each. Found: of all true changes, those with a change "
          "point within one commit. Too many: histories with more change points than true "
          "ones. Bound: 99 % found, 5 % with too many.",
          trials),
      {"history", "found", "too many"},
      {}};
  const std::vector<Levels> kinds = {
      {"+10 % at 20 and again at 40 of 60", {{20, 1}, {20, 1.1}, {20, 1.21}}},
      {"+10 % at 33 and again at 66 of 100", {{33, 1}, {33, 1.1}, {34, 1.21}}},
      {"two steps of +5 %", {{20, 1}, {20, 1.05}, {20, 1.1025}}},
      {"three steps of +10 % of 80", {{20, 1}, {20, 1.1}, {20, 1.21}, {20, 1.331}}},
      {"regressed and fixed, plateau of 10 of 60", {{25, 1}, {10, 1.1}, {25, 1}}},
      {"two plateaus of 10 of 60", {{10, 1}, {10, 1.1}, {15, 1}, {10, 1.1}, {15, 1}}},
      {"one step, 5 of 20 old", {{15, 1}, {5, 1.1}}},
      {"one step, 8 of 40 old", {{32, 1}, {8, 1.1}}},
      {"staircase of five steps of +5 %",
       {{12, 1}, {12, 1.05}, {12, 1.1}, {12, 1.16}, {12, 1.22}, {12, 1.28}}}};
  for (const auto& kind : kinds) {
    int found = 0, too_many = 0;
    const int changes = static_cast<int>(kind.parts.size()) - 1;
    for (int t = 0; t < trials; ++t) {
      auto random = stream(t, kind.name);
      const auto result =
          change_points(draw_levels(kind, random), {.seed = static_cast<std::uint64_t>(t)});
      too_many += static_cast<int>(result.points.size()) > changes;
      int at = 0;
      for (int k = 0; k < changes; ++k) {
        at += kind.parts[static_cast<std::size_t>(k)].first;
        found += std::ranges::any_of(result.points, [&](const ChangePoint& point) {
          return std::abs(static_cast<int>(point.index) - at) <= 1;
        });
      }
    }
    table.add(
        {kind.name, percent(static_cast<double>(found) / (trials * changes)),
         percent(static_cast<double>(too_many) / trials)},
        can_be_at_least(found, trials * changes, 0.99) && can_be_at_most(too_many, trials, 0.05)
            ? Outcome::kWithin
            : Outcome::kOutside);
  }
  return table;
}

Table many_series(const Effort& effort) {
  Table table{"Change points in one of many series",
              "40 commits, noise of 1 %; one series 5 % (50 %) slower for its last 20, the others "
              "unchanged. Found: share of families; falsely: share of families in which another "
              "series is said to have changed. Bound: 99 % found, 10 % falsely (of those that are "
              "said to have changed, one in twenty may be false, and one is true).",
              {"series", "+5 % found", "+50 % found", "falsely"},
              {}};
  for (const int count : {1, 10, 100, 1000}) {
    const int trials = effort.trials(std::max(40, 2000 / count), count < 1000 ? 5 : 1);
    int found[2] = {}, falsely = 0;
    for (int t = 0; t < trials; ++t) {
      for (const int strong : {0, 1}) {
        auto random = stream(t, fmt::format("many{}{}", count, strong));
        std::vector<Series> family = {
            draw_levels({"", {{20, 1}, {20, strong == 1 ? 1.5 : 1.05}}}, random)};
        for (int i = 1; i < count; ++i) family.push_back(draw_levels({"", {{40, 1}}}, random));
        const auto result = change_points(family, {.seed = static_cast<std::uint64_t>(t)});
        found[strong] += !result[0].points.empty();
        falsely += std::any_of(result.begin() + 1, result.end(),
                               [](const ChangePoints& c) { return !c.points.empty(); });
      }
    }
    const bool within = can_be_at_least(found[0], trials, 0.99) &&
                        can_be_at_least(found[1], trials, 0.99) &&
                        can_be_at_most(falsely, 2 * trials, 0.10);
    table.add({std::to_string(count), percent(static_cast<double>(found[0]) / trials),
               percent(static_cast<double>(found[1]) / trials),
               percent(static_cast<double>(falsely) / (2 * trials))},
              within ? Outcome::kWithin : Outcome::kOutside);
  }
  return table;
}

}  // namespace

std::vector<Table> changes(const Effort& effort) {
  return {stationary(effort), steps(effort), several_steps(effort), many_series(effort)};
}

}  // namespace assay::lab::validation
