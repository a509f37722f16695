// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/point.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/record/point.h"
#include "transport/scan.h"

namespace assay::cases::transport {
namespace {

std::vector<double> steps(int n, double first, double last) {
  std::vector<double> v;
  for (int i = 0; i < n; ++i) v.push_back(n == 1 ? first : first + (last - first) * i / (n - 1));
  return v;
}

}  // namespace

TransportPoint::TransportPoint(const Json& p)
    : surface(tr::builtin_surface(lab::point_word(p, "surface"))),
      grid{static_cast<int>(lab::point_int(p, "n_theta")),
           static_cast<int>(lab::point_int(p, "n_zeta")),
           static_cast<int>(lab::point_int(p, "n_xi"))},
      seed(lab::point_int(p, "seed")) {
  if (p.contains("cases")) cases = static_cast<int>(lab::point_int(p, "cases"));
  if (p.contains("field")) field = lab::point_word(p, "field") == "on";
  if (p.contains("layout")) ladder = lab::point_word(p, "layout") == "ladder";
  if (p.contains("lanes")) lanes = static_cast<int>(lab::point_int(p, "lanes"));
  if (p.contains("batch")) batch = static_cast<int>(lab::point_int(p, "batch"));
  if (p.contains("fields")) {
    fields = static_cast<int>(lab::point_int(p, "fields"));
    cases = fields * static_cast<int>(lab::point_int(p, "collisionalities"));
    ladder = false;
    // Of a file, as transport_workflow reads it: B0 is that of the series.
    for (const auto& h : surface.b) {
      if (h.m == 0 && h.n == 0) surface.b0 = h.cosine;
    }
    lowest_nu = 1e-3;
    highest_nu = 1;
  }
}

double TransportPoint::nu_factor(int set) const {
  return uniform(lab::input_stream(seed, "nu", set)[0], 0.9, 1.1);
}

std::vector<tr::Case> TransportPoint::inputs(int set) const {
  const double factor = nu_factor(set);
  const double er_factor = uniform(lab::input_stream(seed, "er", set)[0], 0.9, 1.1);
  if (cases == 1) {
    return {tr::case_of_er(1e-3 * factor, field ? 1e-3 * er_factor : 0, surface.psi_prime)};
  }
  const int n_nu = ladder ? cases : (cases + fields - 1) / fields;
  std::vector<double> nu;
  for (const double exponent : steps(n_nu, std::log10(lowest_nu), std::log10(highest_nu))) {
    nu.push_back(factor * std::pow(10, exponent));
  }
  auto epsi = steps(ladder ? cases : fields, 0, 2e-3 * er_factor);
  for (auto& e : epsi) e /= surface.psi_prime;
  std::vector<tr::Case> list;
  if (ladder) {
    for (std::size_t i = 0; i < nu.size(); ++i) list.push_back({nu[i], epsi[i]});
  } else {
    list = tr::case_grid(nu, epsi);
    list.resize(static_cast<std::size_t>(cases));
  }
  return list;
}

lab::Expectation expectation(const TransportPoint& point, int set, int most) {
  const auto prepared = tr::prepare(point.surface, point.grid);
  const auto cases = point.inputs(set);
  std::set<std::int64_t> rows;
  const auto last = static_cast<std::int64_t>(cases.size()) - 1;
  for (int i = 0; i < most; ++i) rows.insert(last * i / std::max(1, most - 1));
  const bool noise = !prepared.rational_warning().empty();
  std::erase_if(rows, [&](std::int64_t r) {
    return noise && cases[static_cast<std::size_t>(r)].epsi_hat == 0;
  });

  lab::Expectation e;
  e.output = "d";
  e.dtype = "f64";
  e.shape = {last + 1, 4};
  e.rows.assign(rows.begin(), rows.end());
  if (static_cast<std::int64_t>(e.rows.size()) != last + 1) e.sample_seed = 0;
  double lowest = INFINITY;
  std::vector<tr::Case> judged;
  for (const auto r : e.rows) {
    const auto& at = cases[static_cast<std::size_t>(r)];
    const auto d = tr::solve(prepared, at, {.method = tr::Method::kMixed}).d;
    e.values.insert(e.values.end(), {d.d11, d.d31, d.d13, d.d33});
    judged.push_back(at);
    lowest = std::min(lowest, at.nu_hat);
  }
  if (point.cases > 1) {
    for (const auto& s : tr::solve_scan(prepared, judged).solutions) {
      e.baseline.insert(e.baseline.end(), {s.d.d11, s.d.d31, s.d.d13, s.d.d33});
    }
  }
  e.rtol = lowest >= 0.89e-3 ? 1e-10 : 1e-7;
  e.oracle = "block elimination refined with f64 residuals";
  return e;
}

}  // namespace assay::cases::transport
