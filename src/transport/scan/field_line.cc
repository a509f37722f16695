// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/field_line.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::transport {
namespace {

using std::numbers::pi;
constexpr int kStepsPerPeriod = 40;

// The trigonometric polynomial through n points that is 1 at one of them and 0 at the others, at a
// phase x from it.
double cardinal(int n, double x) {
  const double half = x / 2, s = std::sin(half);
  if (std::abs(s) < 1e-12) return 1;
  return std::sin(n * half) / (n * (n % 2 == 0 ? std::tan(half) : s));
}

std::vector<double> weights(int n, double phase) {
  std::vector<double> out(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    out[static_cast<std::size_t>(i)] = cardinal(n, phase - 2 * pi * i / n);
  }
  return out;
}

struct LineFields {
  double b = 0, slope = 0;  // dθ/dζ
};

LineFields fields_at(const Geometry& g, double theta, double zeta) {
  const auto along_theta = weights(g.grid.n_theta, theta);
  const auto along_zeta = weights(g.grid.n_zeta, g.nfp * zeta);
  double b = 0, up_theta = 0, up_zeta = 0;
  std::size_t r = 0;
  for (const double wz : along_zeta) {
    for (const double wt : along_theta) {
      const double w = wz * wt;
      b += w * g.b[r];
      up_theta += w * g.b_sup_theta[r];
      up_zeta += w * g.b_sup_zeta[r];
      ++r;
    }
  }
  return {b, up_theta / up_zeta};
}

}  // namespace

std::vector<FieldLinePoint> field_line(const Geometry& g) {
  const double around = g.iota == 0 ? 4 : std::clamp(1 / std::abs(g.iota), 1.0, 4.0);
  const int steps = static_cast<int>(std::ceil(around * g.nfp * kStepsPerPeriod));
  const double h = 2 * pi * around / steps;
  std::vector<FieldLinePoint> line;
  double theta = 0;
  for (int i = 0; i <= steps; ++i) {
    const double zeta = h * i;
    const auto here = fields_at(g, theta, zeta);
    line.push_back({zeta / (2 * pi), here.b});
    // Runge and Kutta's four slopes.
    const double k2 = fields_at(g, theta + h / 2 * here.slope, zeta + h / 2).slope;
    const double k3 = fields_at(g, theta + h / 2 * k2, zeta + h / 2).slope;
    const double k4 = fields_at(g, theta + h * k3, zeta + h).slope;
    theta += h / 6 * (here.slope + 2 * k2 + 2 * k3 + k4);
  }
  return line;
}

}  // namespace assay::transport
