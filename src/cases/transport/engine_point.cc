// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/engine_point.h"

#include "transport/scan/scan.h"

namespace assay::cases::transport {

tr::Surface engine_surface(const TransportPoint& point) {
  auto surface = tr::builtin_surface(point.surface);
  if (point.from_file) {
    for (const auto& h : surface.b) {
      if (h.m == 0 && h.n == 0) surface.b0 = h.cosine;
    }
  }
  return surface;
}

tr::Grid engine_grid(const TransportPoint& point) {
  return {point.n_theta, point.n_zeta, point.n_xi};
}

std::vector<tr::Case> engine_cases(const TransportPoint& point, int set) {
  const double psi_prime = tr::builtin_surface(point.surface).psi_prime;
  std::vector<tr::Case> cases;
  for (const auto& at : point.inputs(set)) {
    cases.push_back(tr::case_of_er(at.nu_hat, at.er_hat, psi_prime));
  }
  return cases;
}

void add_serial_lane(const TransportPoint& point, int set, lab::Expectation& expected) {
  const auto cases = engine_cases(point, set);
  std::vector<tr::Case> judged;
  for (const auto row : expected.rows) judged.push_back(cases[static_cast<std::size_t>(row)]);
  const auto prepared = tr::prepare(engine_surface(point), engine_grid(point));
  for (const auto& s : tr::solve_scan(prepared, judged).solutions) {
    expected.baseline.insert(expected.baseline.end(), {s.d.d11, s.d.d31, s.d.d13, s.d.d33});
  }
}

}  // namespace assay::cases::transport
