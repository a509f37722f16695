// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace assay::einsum {

// A problem whose energies are known in quadruple precision: B[k] = 0.2·(u(k) − ½) with k linear
// over (i, a, P) and u from splitmix64; ε_i = −½ − i/8, ε_a = 1/8 + a/16.
struct SyntheticMp2 {
  Tensor b;
  std::vector<double> occupied, virtuals;
};
SyntheticMp2 synthetic_mp2(std::int64_t nocc, std::int64_t nvir, std::int64_t naux);

}  // namespace assay::einsum
