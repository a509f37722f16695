// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/rungs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace assay::transport {
namespace {

// Shares of the highest modes that go with a change of one per cent or less, see quality.cc: they
// say which number is too small before it is tried out. The changes decide.
constexpr double kLegendreGoal = 5e-6, kThetaGoal = 1e-3, kZetaGoal = 1e-6, kGoalsTolerance = 1e-2;

int raised_angle(int n) {
  const int next = n + std::max(2, n / 4);
  return next % 2 == 0 ? next + 1 : next;
}
int raised_xi(int n) { return n + std::max(4, n / 4); }

double relative(double a, double b) {
  const double scale = std::max(std::abs(a), std::abs(b));
  return scale == 0 ? 0 : std::abs(a - b) / scale;
}

}  // namespace

constinit const std::array<GridNumber, 3> kGridNumbers = {
    {{&Grid::n_xi, raised_xi, "n_xi"},
     {&Grid::n_theta, raised_angle, "n_theta"},
     {&Grid::n_zeta, raised_angle, "n_zeta"}}};

Grid raised(Grid grid, const GridNumber& number) {
  grid.*number.member = number.raise(grid.*number.member);
  return grid;
}

std::array<double, 3> excess_shares(const Quality& q, double tolerance) {
  const double factor = tolerance / kGoalsTolerance;
  return {q.legendre_share / (factor * kLegendreGoal), q.theta_share / (factor * kThetaGoal),
          q.zeta_share / (factor * kZetaGoal)};
}

double off_diagonal_floor(const Coefficients& d) {
  return 1e-2 * std::sqrt(std::abs(d.d11 * d.d33));
}

std::array<double, 4> relative_changes(const Coefficients& a, const Coefficients& b) {
  const double floor = off_diagonal_floor(b);
  const auto off_diagonal = [&](double from, double to) {
    return floor == 0 ? 0 : std::abs(from - to) / std::max(std::abs(to), floor);
  };
  return {relative(a.d11, b.d11), off_diagonal(a.d31, b.d31), off_diagonal(a.d13, b.d13),
          relative(a.d33, b.d33)};
}

std::string obstacle_of(const Grid& g, const GridLimits& limits, double bytes, double available) {
  const auto size = fmt::format("the next grid {}x{}x{}", g.n_theta, g.n_zeta, g.n_xi);
  if (g.points() > limits.max_points) {
    return fmt::format("{} has {} points: raise --max-points {}", size, g.points(),
                       limits.max_points);
  }
  if (g.n_xi > limits.max_xi) return fmt::format("{} is above --max-xi {}", size, limits.max_xi);
  if (bytes > available) {
    return fmt::format("{} needs {} of memory, {} are available", size, format_bytes(bytes),
                       format_bytes(available));
  }
  return "";
}

}  // namespace assay::transport
