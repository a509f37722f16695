// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/curve.h"

#include <algorithm>
#include <cmath>

namespace assay::transport {

Neighbours neighbours(std::span<const double> axis, double x) {
  const std::size_t n = axis.size();
  if (n == 1) return {0, 1, 0};
  const auto it = std::ranges::upper_bound(axis, x);
  std::size_t i = it == axis.begin() ? 0 : static_cast<std::size_t>(it - axis.begin()) - 1;
  i = std::min(i, n - 2);
  const std::size_t first = i == 0 ? 0 : i - 1, last = std::min(i + 2, n - 1);
  return {first, last - first + 1, i - first, x<axis.front(), x> axis.back()};
}

CurvePoint Curve::at(std::span<const double> axis, const Neighbours& n, std::span<const double> y,
                     double x) const {
  if (n.count == 1) return {y[0], 0};
  const auto width = [&](std::size_t i) { return axis[n.first + i + 1] - axis[n.first + i]; };
  const auto secant = [&](std::size_t i) { return (y[i + 1] - y[i]) / width(i); };
  if (n.below || n.above) {
    const std::size_t end = n.below ? 0 : n.count - 1;
    const double slope = std::clamp(secant(n.below ? 0 : end - 1), least, most);
    return {y[end] + slope * (x - axis[n.first + end]), slope};
  }
  const auto slope_at = [&](std::size_t i) {
    if (i > 0 && i + 1 < n.count) {
      const double s0 = secant(i - 1), s1 = secant(i);
      const double m = (width(i) * s0 + width(i - 1) * s1) / (width(i - 1) + width(i));
      if (!monotone) return m;
      const double limit = s0 * s1 <= 0 ? 0 : 3 * std::min(std::abs(s0), std::abs(s1));
      return std::clamp(m, -limit, limit);
    }
    const std::size_t near = i == 0 ? 0 : i - 1;
    if (n.count == 2) return secant(near);
    const std::size_t far = i == 0 ? 1 : i - 2;  // the end of a parabola
    const double m =
        secant(near) + (secant(near) - secant(far)) * width(near) / (width(near) + width(far));
    return monotone && m * secant(near) <= 0 ? 0.0 : m;
  };
  const std::size_t i = n.left;
  const double h = width(i), t = (x - axis[n.first + i]) / h, u = 1 - t;
  const double m0 = slope_at(i) * h, m1 = slope_at(i + 1) * h;
  return {
      y[i] * (1 + 2 * t) * u * u + y[i + 1] * (3 - 2 * t) * t * t + m0 * t * u * u - m1 * t * t * u,
      (6 * t * u * (y[i + 1] - y[i]) + m0 * u * (1 - 3 * t) + m1 * t * (3 * t - 2)) / h};
}

}  // namespace assay::transport
