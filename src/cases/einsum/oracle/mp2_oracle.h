// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The problem of mp2_energy and its answer by plain loops, which share nothing with any provider.

#include <array>
#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace assay::cases::einsum {

struct Mp2Problem {
  Tensor b{DType::kF64, Shape()};          // occupied × virtual × auxiliary
  std::vector<double> occupied, virtuals;  // orbital energies
};

// E = Σ T_ijab(2T_ijab − T_ijba)/(ε_i + ε_j − ε_a − ε_b) with T_ijab = Σ_P B_iaP B_jbP: total,
// opposite-spin and same-spin part.
std::array<double, 3> plain_mp2(const Mp2Problem& problem);

}  // namespace assay::cases::einsum
