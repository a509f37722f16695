// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tensors that are a decomposition plus a little noise, so that the error of the best one is known.
// python/assay_worker/decompose.py makes the same.

#include <cstdint>
#include <vector>

#include "base/json.h"
#include "cases/einsum/oracle/plain_loops.h"
#include "tensor/tensor.h"

namespace assay::cases::einsum {

// A canonical point of decompose_cp or decompose_tucker: order modes of extent n, rank in each.
struct DecompositionPoint {
  std::int64_t n = 0, order = 3, rank = 0, sweeps = 0, seed = 0;
  DType dtype = DType::kF64;
  explicit DecompositionPoint(const Json& point);
  Shape shape() const {
    return Shape(std::vector<std::int64_t>(static_cast<std::size_t>(order), n));
  }
  double elements() const { return static_cast<double>(shape().element_count()); }
};

// Factors (n × rank, uniform on [−√3, √3), stream "u<mode>") of set `set`.
std::vector<Tensor> exact_factors(const DecompositionPoint& point, int set);
// Where the iteration starts: the factors plus a tenth of stream "s<mode>", uniform as they are.
std::vector<Tensor> start_factors(const DecompositionPoint& point, int set);
// Σ_r u_r ∘ v_r ∘ … by plain loops in f64, of the factors and of the start; and a core of
// rank^order (stream "core") times the factors.
PlainTensor exact_cp(const DecompositionPoint& point, int set);
PlainTensor start_cp(const DecompositionPoint& point, int set);
PlainTensor exact_tucker(const DecompositionPoint& point, int set);
// The same plus noise of a hundredth of the elements' size (stream "noise"), in the point's dtype:
// what is decomposed.
Tensor cp_tensor(const DecompositionPoint& point, int set);
Tensor tucker_tensor(const DecompositionPoint& point, int set);

// What factors (extent × rank) and a core, or the weights of one rank, stand for.
PlainTensor rebuild(const std::vector<Tensor>& factors, const Tensor& core);

}  // namespace assay::cases::einsum
