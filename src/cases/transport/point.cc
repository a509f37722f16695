// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/point.h"

#include <cmath>

#include "lab/record/point.h"

namespace assay::cases::transport {
namespace {

std::vector<double> steps(int n, double first, double last) {
  std::vector<double> v;
  for (int i = 0; i < n; ++i) v.push_back(n == 1 ? first : first + (last - first) * i / (n - 1));
  return v;
}

}  // namespace

TransportPoint::TransportPoint(const Json& p)
    : surface(lab::point_word(p, "surface")),
      n_theta(static_cast<int>(lab::point_int(p, "n_theta"))),
      n_zeta(static_cast<int>(lab::point_int(p, "n_zeta"))),
      n_xi(static_cast<int>(lab::point_int(p, "n_xi"))),
      seed(lab::point_int(p, "seed")) {
  if (p.contains("cases")) cases = static_cast<int>(lab::point_int(p, "cases"));
  if (p.contains("field")) field = lab::point_word(p, "field") == "on";
  if (p.contains("layout")) {
    zero = lab::point_word(p, "layout") == "zero";
    ladder = zero || lab::point_word(p, "layout") == "ladder";
  }
  if (p.contains("lanes")) lanes = static_cast<int>(lab::point_int(p, "lanes"));
  if (p.contains("batch")) batch = static_cast<int>(lab::point_int(p, "batch"));
  if (p.contains("fields")) {
    fields = static_cast<int>(lab::point_int(p, "fields"));
    cases = fields * static_cast<int>(lab::point_int(p, "collisionalities"));
    ladder = false;
    from_file = true;
    lowest_nu = 1e-3;
    highest_nu = 1;
  }
}

double TransportPoint::nu_factor(int set) const {
  return uniform(lab::input_stream(seed, "nu", set)[0], 0.9, 1.1);
}

std::vector<Drive> TransportPoint::inputs(int set) const {
  const double factor = nu_factor(set);
  const double er_factor = uniform(lab::input_stream(seed, "er", set)[0], 0.9, 1.1);
  if (cases == 1) return {{1e-3 * factor, field ? 1e-3 * er_factor : 0}};
  const int n_nu = ladder ? cases : (cases + fields - 1) / fields;
  std::vector<double> nu;
  for (const double exponent : steps(n_nu, std::log10(lowest_nu), std::log10(highest_nu))) {
    nu.push_back(factor * std::pow(10, exponent));
  }
  const auto er = steps(ladder ? cases : fields, 0, zero ? 0 : 2e-3 * er_factor);
  std::vector<Drive> list;
  for (int i = 0; i < cases; ++i) {
    const auto row = static_cast<std::size_t>(ladder ? i : i / fields);
    const auto column = static_cast<std::size_t>(ladder ? i : i % fields);
    list.push_back({nu[row], er[column]});
  }
  return list;
}

std::vector<double> thermal_collisionalities(const TransportPoint& point, int set) {
  const double factor = point.nu_factor(set);
  return {1e-2 * factor, 1e-1 * factor, factor};
}

}  // namespace assay::cases::transport
