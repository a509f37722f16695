// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/mp2_inputs.h"

#include "tensor/fill.h"

namespace assay::cases::einsum {

Mp2Problem make_problem(const Mp2Point& p, int set) {
  Mp2Problem problem{Tensor(DType::kF64, Shape({p.nocc, p.nvir, p.naux})), {}, {}};
  for (std::int64_t i = 0; i < p.nocc; ++i) {
    problem.occupied.push_back(-0.5 - static_cast<double>(i) / 8);
  }
  for (std::int64_t a = 0; a < p.nvir; ++a) {
    problem.virtuals.push_back(0.125 + static_cast<double>(a) / 16);
  }
  fill_uniform(problem.b.mutable_view(), lab::input_stream(p.seed, "b", set), -0.1, 0.1);
  return problem;
}

}  // namespace assay::cases::einsum
