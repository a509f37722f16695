// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/oracle/surface.h"

#include <map>
#include <string>

#include "base/error.h"

namespace assay::cases::transport::oracle {

const Surface& surface(std::string_view name) {
  static const std::map<std::string, Surface, std::less<>> kSurfaces = {
      {"example",
       {.nfp = 5,
        .iota = 0.85,
        .psi_prime = 1,
        .b_theta = 0.05,
        .b_zeta = 1,
        .b = {{0, 0, 1}, {1, 0, 0.06}, {1, 1, 0.025}, {2, -1, 0.01}}}},
      {"sample_dkes",
       {.nfp = 2,
        .iota = 0.4,
        .psi_prime = 1.25,
        .b_theta = 0.15,
        .b_zeta = 1.4,
        .b0 = 2.4,
        .b = {{0, 0, 2.4}, {1, 0, 0.12}, {0, 1, 0.08}, {1, -1, -0.03}}}},
      {"w7x_eim_sample",
       {.nfp = 5,
        .iota = -0.4512 / 0.5237,
        .psi_prime = -0.5237,
        .b_theta = 0,
        .b_zeta = -14.0876,
        .b0 = 2.4311,
        .b = {{0, 0, 2.4311},
              {0, 1, 0.11149},
              {1, 1, -0.094228},
              {1, 0, -0.040776},
              {1, -1, 0.0054553},
              {2, 0, -0.0037086}}}},
      {"tokamak",
       {.nfp = 1,
        .iota = 0.43,
        .psi_prime = 0.3,
        .b_theta = 0.05,
        .b_zeta = 3,
        .b0 = 1,
        .b = {{0, 0, 1}, {1, 0, -0.1}}}}};
  const auto it = kSurfaces.find(name);
  if (it == kSurfaces.end()) fail("the oracle knows no surface '{}'", name);
  return it->second;
}

double mean_mode(const Surface& surface) {
  double sum = 0;
  for (const auto& mode : surface.b) sum += mode.m == 0 && mode.n == 0 ? mode.b : 0;
  return sum;
}

}  // namespace assay::cases::transport::oracle
