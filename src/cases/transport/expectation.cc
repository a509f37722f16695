// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/expectation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "cases/transport/oracle/coefficients.h"
#include "cases/transport/oracle/energy_integral.h"
#include "lab/record/sample_rows.h"

namespace assay::cases::transport {
namespace {

// An oracle's patience: rows are left out beyond kEnoughFlops, some five seconds, but never to
// fewer than kFewestRows: the ends and one that is drawn; what would take kMostFlops, some minutes,
// or that much memory, is not judged.
constexpr double kEnoughFlops = 2e10, kMostFlops = 1e12, kMostBytes = 2.5e9;
constexpr std::int64_t kFewestRows = 3;

using Known = std::map<std::int64_t, std::array<double, 4>>;  // by row

oracle::Surface surface_of(const TransportPoint& point) {
  auto surface = oracle::surface(point.surface);
  if (point.from_file) surface.b0 = oracle::mean_mode(surface);
  return surface;
}

oracle::Grid grid_of(const TransportPoint& point) {
  return {point.n_theta, point.n_zeta, point.n_xi};
}

Known solve_rows(const TransportPoint& point, int set, std::int64_t draw,
                 const std::vector<Drive>& drives) {
  Known known;
  for (const auto row : judged_rows(point, set, draw)) {
    const auto& at = drives[static_cast<std::size_t>(row)];
    const auto answer = oracle::solve(surface_of(point), grid_of(point), at.nu_hat, at.er_hat);
    if (answer) known[row] = answer->d;
  }
  return known;
}

lab::Expectation coefficients(const std::vector<Drive>& drives, const Known& known,
                              std::int64_t draw) {
  lab::Expectation e;
  e.output = "d";
  e.dtype = "f64";
  e.shape = {static_cast<std::int64_t>(drives.size()), kCoefficients};
  double lowest = INFINITY;
  for (const auto& [row, d] : known) {
    e.rows.push_back(row);
    e.values.insert(e.values.end(), d.begin(), d.end());
    lowest = std::min(lowest, drives[static_cast<std::size_t>(row)].nu_hat);
  }
  if (known.size() != drives.size()) e.sample_seed = draw;
  e.rtol = lowest >= 0.89e-3 ? 1e-10 : 1e-7;
  e.oracle = "own assembly by quadrature, refined with residuals in extended precision";
  return e;
}

lab::Expectation integrals(const TransportPoint& point, int set, const std::vector<Drive>& drives,
                           const Known& known, const lab::Expectation& of) {
  lab::Expectation e;
  e.output = "i";
  e.dtype = "f64";
  e.shape = {point.fields * kThermal, kCoefficients * kOrders};
  e.rtol = of.rtol;
  e.sample_seed = of.sample_seed;
  e.oracle = "Simpson's rule in ln x over the oracle's coefficients";
  const auto thermal = thermal_collisionalities(point, set);
  for (int field = 0; field < point.fields; ++field) {
    std::vector<double> nu;
    std::array<std::vector<double>, kCoefficients> tables;
    for (std::size_t i = static_cast<std::size_t>(field); i < drives.size();
         i += static_cast<std::size_t>(point.fields)) {
      const auto it = known.find(static_cast<std::int64_t>(i));
      if (it == known.end()) continue;
      nu.push_back(drives[i].nu_hat);
      for (std::size_t c = 0; c < kCoefficients; ++c) tables[c].push_back(it->second[c]);
    }
    if (nu.size() * static_cast<std::size_t>(point.fields) != drives.size()) {
      continue;
    }
    for (int t = 0; t < kThermal; ++t) {
      e.rows.push_back(field * kThermal + t);
      for (const auto& table : tables) {
        for (int order = 0; order < kOrders; ++order) {
          e.values.push_back(
              oracle::energy_integral(nu, table, thermal[static_cast<std::size_t>(t)], order));
        }
      }
    }
  }
  return e;
}

}  // namespace

std::vector<std::int64_t> judged_rows(const TransportPoint& point, int set, std::int64_t draw) {
  const auto drives = point.inputs(set);
  const bool rational = oracle::is_rational(surface_of(point), grid_of(point));
  const bool even = point.n_theta % 2 == 0 || point.n_zeta % 2 == 0;
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < drives.size(); ++i) {
    if (drives[i].er_hat == 0 ? !rational : !even) rows.push_back(static_cast<std::int64_t>(i));
  }
  const auto all = static_cast<std::int64_t>(rows.size());
  const double flops = oracle::flops(grid_of(point));
  // The integrals of a workflow need every case.
  const auto sample =
      lab::sample_rows(all, flops, kEnoughFlops, point.from_file ? all : kFewestRows, draw);
  if (static_cast<double>(sample.rows.size()) * flops > kMostFlops ||
      oracle::bytes(grid_of(point)) > kMostBytes) {
    return {};
  }
  std::vector<std::int64_t> some;
  for (const auto i : sample.rows) some.push_back(rows[static_cast<std::size_t>(i)]);
  return some;
}

std::vector<lab::Expectation> expectations(const TransportPoint& point, int set,
                                           std::int64_t draw) {
  const auto drives = point.inputs(set);
  const auto known = solve_rows(point, set, draw, drives);
  if (known.empty()) return {};
  std::vector<lab::Expectation> all = {coefficients(drives, known, draw)};
  if (!point.from_file) return all;
  all.push_back(integrals(point, set, drives, known, all.front()));
  if (all.back().rows.empty()) return {};  // half an answer is none
  return all;
}

}  // namespace assay::cases::transport
