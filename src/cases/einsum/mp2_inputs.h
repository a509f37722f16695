// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/einsum/oracle/mp2_oracle.h"
#include "lab/record/point.h"

namespace assay::cases::einsum {

struct Mp2Point {
  std::int64_t nocc, nvir, naux, seed;
  explicit Mp2Point(const Json& p)
      : nocc(lab::point_int(p, "nocc")),
        nvir(lab::point_int(p, "nvir")),
        naux(lab::point_int(p, "naux")),
        seed(lab::point_int(p, "seed")) {}
};

// B uniform on [−0.1, 0.1), stream "b"; orbital energies −0.5 − i/8 and 1/8 + a/16.
Mp2Problem make_problem(const Mp2Point& point, int set);

}  // namespace assay::cases::einsum
