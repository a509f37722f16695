// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Smooth curves through points on an ascending axis.

#include <cstddef>
#include <span>

namespace assay::transport {

// Up to four points around a place on an axis; the interval that it is in (or the one nearest to
// it) is left, left + 1, counted from `first`.
struct Neighbours {
  std::size_t first = 0, count = 0, left = 0;
  bool below = false, above = false;  // beyond the axis
};
Neighbours neighbours(std::span<const double> axis, double x);

struct CurvePoint {
  double value = 0, slope = 0;
};

// A cubic between two points, with the slopes of parabolas through their neighbours: exact for
// parabolas, third order in the distance of points.
struct Curve {
  // Slopes are limited so that the curve stays between neighbouring values.
  bool monotone = false;
  // Beyond the axis: the line of the last interval, its slope kept within these.
  double least = 0, most = 0;

  // `y` holds the values at the neighbours `n` of x.
  CurvePoint at(std::span<const double> axis, const Neighbours& n, std::span<const double> y,
                double x) const;
};

}  // namespace assay::transport
