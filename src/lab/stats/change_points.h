// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a history changed: one value per commit, cut into stretches of one level.
//
// All cuts are found at once: the levels with the least sum of distances, each cut at a price (a
// Potts fit in L1). To look for one cut, test it, and look again inside the parts, fails for two
// equal steps: what the first cut leaves still holds the second, and passes for noise.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::lab {

struct SeriesPoint {
  double value = 0;   // ln of the attempts' median
  double weight = 1;  // how much it counts: see weight_from_width()
};
using Series = std::vector<SeriesPoint>;

struct ChangePoint {
  std::size_t index = 0;         // of the first point of the new stretch
  double p = 1;                  // of this cut, beside what noise alone does in a stretch so long
  double before = 0, after = 0;  // weighted medians of the stretches left and right of it
};

struct ChangeSettings {
  int min_segment = 5;     // points
  int permutations = 999;  // at most for one series; more where there are many series
  double level = 0.01;     // a series changed, and a cut is kept, when its p is below
  double rate = 0.05;      // of false ones among the series that are said to have changed
  std::uint64_t seed = 0;
};

struct ChangePoints {
  std::vector<ChangePoint> points;  // by index; none where the series did not change
  double p = 1;                     // of "it never changed"
  bool tested = false;              // false: shorter than two segments, and not in the family
  bool blocks = false;              // whether blocks were shuffled
};

// Change points of series that are looked at together: each series is tested as a whole, at its
// level and at the family's rate (Benjamini and Hochberg), then each of its cuts.
//
// A series as a whole: how often its points, shuffled, are fitted as well, which is exact whatever
// the noise. A cut: how often what the whole fit leaves (its residuals, which hold no other step)
// is cut with as much gain in a stretch so long. Blocks are shuffled where neighbours resemble each
// other, since single points would make every wander look like a change. Shuffles are drawn until p
// is known well enough, more for larger families. Values must be finite, weights positive and
// finite (UserError). A fit is O(n² log n): half a millisecond for 100 points.
std::vector<ChangePoints> change_points(std::span<const Series> family,
                                        const ChangeSettings& settings = {});
// Of one series alone.
ChangePoints change_points(const Series& series, const ChangeSettings& settings = {});

// The weight of a point whose value (a logarithm) has an interval of this width: 1/width²,
// relative to `typical`, kept within [1/16, 16] so that no single point speaks for the whole
// history. Width zero or not finite, or no typical one: 1.
double weight_from_width(double width, double typical);

}  // namespace assay::lab
