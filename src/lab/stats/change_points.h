// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a history changed: one value per commit, cut into stretches of one level.
//
// E-divisive (Matteson and James): the cut that separates two neighbouring stretches most, by the
// energy distance, which sees changes of level and of spread alike and squares no outlier; accepted
// when shuffled histories seldom show as much; then again inside both parts.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::lab {

struct SeriesPoint {
  double value = 0;   // ln of the attempts' median
  double weight = 1;  // how much it counts: see weight_from_width()
};

struct ChangePoint {
  std::size_t index = 0;         // of the first point of the new stretch
  double p = 1;                  // (b + 1)/(M + 1) for the largest statistic of the stretch it cut
  double before = 0, after = 0;  // weighted medians of the stretches left and right of it
};

struct ChangeSettings {
  int min_segment = 5;     // points
  int permutations = 999;  // M
  double level = 0.01;     // a cut is accepted when p < level
  std::uint64_t seed = 0;
};

struct ChangePoints {
  std::vector<ChangePoint> points;  // by index
  double p = 1;         // of the strongest cut of the whole series, accepted or not; 1: too short
  bool blocks = false;  // whether the whole series was shuffled in blocks
};

// Accepted change points of one series. Where neighbouring points resemble each other (lag-1
// correlation of what is left after the cut above 0.1) blocks of points are shuffled instead of
// points, since single points would make every wander look like a change. A series shorter than two
// segments has none. Values must be finite, weights positive and finite (UserError).
// O(M·n²) for each stretch that is looked at: 20 ms for 100 points.
ChangePoints change_points(std::span<const SeriesPoint> series,
                           const ChangeSettings& settings = {});

// The statistic whose permutation is the test: the largest energy distance between two neighbouring
// stretches of at least `min_segment` points that begin the series. Same conditions.
double strongest_statistic(std::span<const SeriesPoint> series, int min_segment = 5);

// Many series: which of them changed at all, by Benjamini and Hochberg over their p at this rate of
// false discoveries. The change points of the others are to be dropped.
std::vector<bool> changed_series(std::span<const ChangePoints> series, double rate = 0.05);

// The weight of a point whose value (a logarithm) has an interval of this width: 1/width²,
// relative to `typical`, kept within [1/16, 16] so that no single point speaks for the whole
// history. Width zero or not finite, or no typical one: 1.
double weight_from_width(double width, double typical);

// The lag-1 correlation of values about zero, with values beyond three robust standard deviations
// pulled in, so that a spike hides nothing. 0 for fewer than three values or no spread.
double lag_one_correlation(std::span<const double> values);

}  // namespace assay::lab
