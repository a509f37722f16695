// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What equilibrium files share: radial meshes, and numbers that must make sense.

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "transport/files/netcdf_reader.h"
#include "transport/surface/surface.h"

namespace assay::transport {

// Where a flux lies among the points of a mesh: value = Σ weight[k]·[lower − 1 + k]. A cubic with
// the slopes of central differences, one-sided where there is no further point: amplitudes grow as
// √s near the axis, where a straight line between two surfaces misses D31 by per cents.
struct MeshPlace {
  std::size_t lower = 0;
  std::array<double, 4> weight = {0, 1, 0, 0};

  // `value` gives a row's value; rows of weight 0 may not exist.
  template <typename F>
  double sum(F value) const {
    double total = 0;
    for (std::size_t k = 0; k < weight.size(); ++k) {
      if (weight[k] != 0) total += weight[k] * value(lower + k - 1);
    }
    return total;
  }
  double in(const NetcdfReader::Matrix& m, std::size_t column) const {
    return sum([&](std::size_t row) { return m.at(row, column); });
  }
  double in(const std::vector<double>& v) const {
    return sum([&](std::size_t row) { return v[row]; });
  }
};

// Between the rows `lower` (t = 0) and `lower` + 1 (t = 1), of which the neighbours may be missing.
// t leaves [0, 1] by at most the half cell between the mesh and the ends 0 and 1.
inline MeshPlace place_between(std::size_t lower, double t, bool has_before, bool has_after) {
  const double at_lower = (1 + 2 * t) * (1 - t) * (1 - t), at_upper = t * t * (3 - 2 * t);
  const double slope_lower = t * (1 - t) * (1 - t), slope_upper = t * t * (t - 1);
  MeshPlace place{lower, {0, at_lower, at_upper, 0}};
  auto& w = place.weight;
  if (has_before) {
    w[0] -= slope_lower / 2;
    w[2] += slope_lower / 2;
  } else {
    w[1] -= slope_lower;
    w[2] += slope_lower;
  }
  if (has_after) {
    w[1] -= slope_upper / 2;
    w[3] += slope_upper / 2;
  } else {
    w[1] -= slope_upper;
    w[2] += slope_upper;
  }
  return place;
}

// Below this many surfaces from the axis, amplitudes that grow as √s are not known well: D11 was
// seen 7 % off at 0.4 of them, 5 % at 0.8, and wrong by factors at 0.1.
inline constexpr double kNearAxis = 1.5;
inline std::string near_axis_warning(double psi_n, std::size_t ns) {
  const double surfaces = psi_n * static_cast<double>(ns - 1);
  if (surfaces >= kNearAxis) return "";
  return fmt::format(
      "psi_n = {:g} is {:.2g} surfaces from the axis of a file with {}: its fields are not known "
      "well "
      "there, coefficients may be wrong by per cents or more",
      psi_n, surfaces, ns);
}

// No mode may stand there twice: its amplitudes would add up.
inline void check_modes(const std::vector<double>& m, const std::vector<double>& n,
                        const std::string& path) {
  std::set<std::pair<double, double>> seen;
  for (std::size_t i = 0; i < m.size(); ++i) {
    if (!seen.emplace(m[i], n[i]).second) {
      fail("{}: the mode ({}, {}) is there twice", path, m[i], n[i]);
    }
  }
}

// Rows 1 … ns−1 of an array hold the half mesh s = (j − ½)/(ns − 1); row 0 is not used. The row
// below a flux, and how far it is beyond that.
struct HalfMesh {
  std::size_t lower = 0;
  double t = 0;

  HalfMesh(double psi_n, std::size_t ns) {
    const double j = psi_n * static_cast<double>(ns - 1) + 0.5;
    lower = std::clamp(static_cast<std::size_t>(j), std::size_t{1}, ns - 2);
    t = j - static_cast<double>(lower);
  }
};

inline MeshPlace half_mesh(double psi_n, std::size_t ns) {
  const HalfMesh half(psi_n, ns);
  return place_between(half.lower, half.t, half.lower > 1, half.lower + 2 < ns);
}

// Rows 0 … ns−1 hold s = j/(ns − 1).
inline MeshPlace full_mesh(double psi_n, std::size_t ns) {
  const double j = psi_n * static_cast<double>(ns - 1);
  const auto lower = std::min(static_cast<std::size_t>(j), ns - 2);
  return place_between(lower, j - static_cast<double>(lower), lower > 0, lower + 2 < ns);
}

inline int integer_between(double value, int least, int most, const char* what,
                           const std::string& path) {
  const double rounded = std::round(value);
  if (!(std::abs(value - rounded) <= 1e-9 && rounded >= least && rounded <= most)) {
    fail("{}: {} must be an integer from {} to {}, got {}", path, what, least, most, value);
  }
  return static_cast<int>(rounded);
}

inline int mode_number(double value, const char* what, const std::string& path) {
  return integer_between(value, -kLargestModeNumber, kLargestModeNumber, what, path);
}
inline int field_periods(const NetcdfReader& file, const char* name, const std::string& path) {
  return integer_between(file.number(name), 1, 1000, name, path);
}
inline std::size_t radial_points(const NetcdfReader& file, const char* name,
                                 const std::string& path) {
  return static_cast<std::size_t>(integer_between(file.number(name), 3, 100'000, name, path));
}

// A vector of one value for each radial point.
inline std::vector<double> radial_vector(const NetcdfReader& file, const char* name, std::size_t ns,
                                         const std::string& path) {
  auto values = file.vector(name);
  if (values.size() != ns) {
    fail("{}: expected {} values, got {}: '{}'", path, ns, values.size(), name);
  }
  return values;
}

inline bool is_set(const NetcdfReader& file, const char* name) {
  return file.has(name) && file.number(name) != 0;
}

}  // namespace assay::transport
