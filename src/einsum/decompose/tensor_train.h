// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// X ≈ G₁G₂…G_d, a tensor train.

#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace assay::einsum {

struct TrainOptions {
  // d − 1 of them, or empty with a tolerance; with both they are the most that there may be, and
  // come before the tolerance.
  std::vector<std::int64_t> ranks;
  std::optional<double> tolerance;  // relative, of the whole: each cut may lose ε‖X‖/√(d−1)
};

struct TrainResult {
  std::vector<Tensor> cores;  // r_{k−1} × n_k × r_k, r_0 = r_d = 1
  double relative_error = 0;  // estimated from what was cut off: equal to the error for TT-SVD
};

TrainResult tensor_train(const TensorView& x, const TrainOptions& options);
// A train of smaller ranks near another one, without ever forming the tensor.
TrainResult round_train(const std::vector<Tensor>& cores, const TrainOptions& options);
Tensor train_reconstruct(const std::vector<Tensor>& cores);

}  // namespace assay::einsum
