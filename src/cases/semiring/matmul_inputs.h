// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/json.h"
#include "semiring/algebra.h"
#include "tensor/tensor.h"

namespace assay::cases::semiring {

using assay::semiring::Algebra;

// A canonical point of semiring_matmul or dense_matmul, read.
struct MatmulPoint {
  Algebra algebra = Algebra::kReal;
  DType dtype = DType::kF32;
  DType inputs = DType::kF32;  // what a and b are rounded to: dtype, or a half of f32
  bool spread = false;
  std::int64_t m = 0, k = 0, n = 0, seed = 0;

  explicit MatmulPoint(const Json& point);
  double pairs() const {
    return static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  }
  // Bytes of a, b and the output.
  double bytes() const;
};

// Both of the point's dtype, whatever their numbers are rounded to.
struct MatmulInputs {
  Tensor a, b;
  explicit MatmulInputs(const MatmulPoint& point);
};

// Generates input set `set`. python/assay_worker/semiring.py makes the same bits.
//
//   unit    uniform on [−√3, √3), unit variance; boolean: true with probability 1/16
//   spread  log: uniform on [−50, 50), so that terms lie up to 200 nats apart, 5 % of them −∞
//           max_plus, min_plus: as unit, with 5 % holes of −∞, respectively +∞
//           euclidean: column j of b is row (j mod m) of a, moved by less than 1e-3
void fill_inputs(const MatmulPoint& point, int set, MatmulInputs& inputs);

}  // namespace assay::cases::semiring
