// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "transport/prepared.h"

namespace assay::transport {
namespace {

// A coefficient with fewer digits than this is named; grids are rarely good to more.
constexpr int kFewDigits = 4;
// A stable elimination leaves 1e-16 to 1e-12.
constexpr double kLargeResidual = 1e-8;
// Onsager's symmetry is broken by aliasing alone: its error is one of the grid.
constexpr double kLargeOnsager = 1e-2;
// Shares of the highest modes above which coefficients were seen to be wrong by a few per cent
// (docs/methods/transport.md).
constexpr double kLegendreShare = 1e-4, kThetaShare = 5e-3, kZetaShare = 2e-4;
// Shares of B's derivatives beyond what the grid represents, and beyond two thirds of it.
constexpr double kAliasedShare = 0.02, kCrowdedShare = 0.25;
// Modes whose resonance matters where they are not resolved.
constexpr int kLowOrder = 10;
constexpr double kNearRational = 0.03;
// What B drives: products of so many of its modes, each at least this share of the strongest.
constexpr int kFactors = 4;
constexpr double kDrivingMode = 0.05;
constexpr double kSpitzerSlack = 1e-9;

double off_diagonal_scale(const Coefficients& d) {
  return 1e-3 * std::sqrt(std::abs(d.d11 * d.d33));
}

// The modes (m, n) of products of a few strong modes of B; a symmetric field has few of them.
std::set<std::pair<int, int>> products_of(const Series& b) {
  double strongest = 0;
  for (const auto& h : b) {
    if (h.m != 0 || h.n != 0) strongest = std::max(strongest, std::hypot(h.cosine, h.sine));
  }
  std::set<std::pair<int, int>> modes = {{0, 0}};
  for (int factor = 0; factor < kFactors; ++factor) {
    const auto before = modes;
    for (const auto& h : b) {
      if ((h.m == 0 && h.n == 0) || std::hypot(h.cosine, h.sine) < kDrivingMode * strongest)
        continue;
      for (const auto& [m, n] : before) {
        for (const int sign : {-1, 1}) modes.insert({m + sign * h.m, n + sign * h.n});
      }
    }
  }
  return modes;
}

}  // namespace

int correct_digits(double value, double error, double scale) {
  const double size = std::max(std::abs(value), scale);
  if (error == 0) return 16;
  if (!(error < size)) return 0;
  return static_cast<int>(std::clamp(-std::log10(error / size), 0.0, 16.0));
}

double residual(const Solution& s) { return s.quality.whole ? s.quality.residual : s.residual; }

std::array<int, 4> correct_digits(const Solution& s) {
  const auto& e = s.quality.error;
  const double scale = off_diagonal_scale(s.d);
  return {correct_digits(s.d.d11, e.d11), correct_digits(s.d.d31, e.d31, scale),
          correct_digits(s.d.d13, e.d13, scale), correct_digits(s.d.d33, e.d33)};
}

std::string unresolved_rational(const Surface& surface, const Geometry& g) {
  const auto driven = products_of(surface.b);
  for (int m = 1; m <= kLowOrder; ++m) {
    const int n = static_cast<int>(std::lround(-g.iota * m / g.nfp));
    const double divisor = std::abs(g.iota * m + n * g.nfp);
    const bool resolved = 2 * m < g.grid.n_theta && 2 * std::abs(n) < g.grid.n_zeta;
    if (!resolved && divisor < kNearRational && driven.contains({m, n})) {
      return fmt::format(
          "nearly rational surface at zero field: iota*m + n*nfp = {:.2g} for (m, n) = ({}, {}), "
          "which "
          "the grid does not resolve; D11 may be far too small",
          divisor, m, n);
    }
  }
  return "";
}

std::vector<std::string> unresolved_field(const Surface& surface, const Grid& grid) {
  std::vector<std::string> warnings;
  const auto look = [&](const char* number, int points, int Harmonic::*mode) {
    double all = 0, aliased = 0, crowded = 0;
    int highest = 0;
    for (const auto& h : surface.b) {
      const double slope = std::pow(h.*mode * std::hypot(h.cosine, h.sine), 2);
      all += slope;
      if (2 * std::abs(h.*mode) > points - 1) aliased += slope;
      if (3 * std::abs(h.*mode) > points - 1) crowded += slope;
      if (slope > 0) highest = std::max(highest, std::abs(h.*mode));
    }
    if (!(all > 0)) return;
    const double beyond = std::sqrt(aliased / all), close = std::sqrt(crowded / all);
    if (beyond > kAliasedShare || close > kCrowdedShare) {
      warnings.push_back(fmt::format(
          "{} = {} is too small for B, whose modes go to {}: a share of {:.1e} of its slope is {}",
          number, points, highest, beyond > kAliasedShare ? beyond : close,
          beyond > kAliasedShare ? "taken for others" : "barely resolved"));
    }
  };
  look("n_theta", grid.n_theta, &Harmonic::m);
  look("n_zeta", grid.n_zeta, &Harmonic::n);
  return warnings;
}

void add_warnings(const Prepared& prepared, Solution& s) {
  const auto& grid = prepared.grid();
  const auto& q = s.quality;
  const auto warn = [&]<typename... Args>(fmt::format_string<Args...> text, Args&&... args) {
    s.warnings.push_back(fmt::format(text, std::forward<Args>(args)...));
  };
  const bool zero_field = prepared.is_zero_field(s.at.epsi_hat);
  if (zero_field && !prepared.rational_warning().empty()) {
    s.warnings.push_back(prepared.rational_warning());
  }
  if (zero_field && !prepared.parts().unresolved_rational.empty()) {
    s.warnings.push_back(prepared.parts().unresolved_rational);
  }
  if (!zero_field && !grid.has_odd_angles()) {
    warn(
        "{} x {} points: the highest mode of an even number has no derivative and, with "
        "a field, no equation; coefficients may be wrong, use odd numbers",
        grid.n_theta, grid.n_zeta);
  }
  for (const auto& w : prepared.field_warnings()) s.warnings.push_back(w);
  if (s.d.d11 < 0) warn("D11 is negative: {:.3g}", s.d.d11);
  if (s.d.d33 < 0) warn("D33 is negative: {:.3g}", s.d.d33);
  if (s.d.d33 > s.d.d33_spitzer * (1 + kSpitzerSlack)) {
    warn("D33 is above what passing particles alone would carry: {:.6g} > {:.6g}", s.d.d33,
         s.d.d33_spitzer);
  }
  const double mismatch = std::abs(s.d.d31 + s.d.d13);
  if ((zero_field || prepared.geometry().cosine_only) && s.onsager > kLargeOnsager &&
      mismatch > kLargeOnsager * off_diagonal_scale(s.d)) {
    warn("D31 and -D13 differ by {:.1e} of their size, and should be equal: the grid is too coarse",
         s.onsager);
  }
  if (!q.whole) {
    warn("only three Legendre modes were looked at: there was no memory to check the others");
    return;
  }
  const auto digits = correct_digits(s);
  const std::array<const char*, 4> names = {"D11", "D31", "D13", "D33"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (digits[i] < kFewDigits) {
      warn("{} has lost its digits to rounding: {} are left", names[i], digits[i]);
    }
  }
  if (!(q.residual <= kLargeResidual)) {
    warn("the equations are not solved: scaled residual {:.1e}", q.residual);
  }
  const auto unresolved = [&](double share, double most, const char* number, int value) {
    if (share > most) {
      warn("{} = {} is too small: the highest modes have a share of {:.1e} in the solution", number,
           value, share);
    }
  };
  unresolved(q.legendre_share, kLegendreShare, "n_xi", grid.n_xi);
  unresolved(q.theta_share, kThetaShare, "n_theta", grid.n_theta);
  unresolved(q.zeta_share, kZetaShare, "n_zeta", grid.n_zeta);
}

}  // namespace assay::transport
