// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// X ≈ Σ_r λ_r a_r ∘ b_r ∘ c_r …: the canonical polyadic decomposition by alternating least squares.

#include <cstdint>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace assay::einsum {

enum class CpInit {
  kSvd,     // leading left singular vectors of the unfoldings, random beyond their number
  kRandom,  // uniform on [−1, 1)
};

struct CpOptions {
  std::int64_t rank = 1;
  int max_sweeps = 200;
  // Of the fit. Two sweeps in a row that change it less end the iteration, if it then comes back
  // from a small random step: from a saddle it does not, and goes on.
  double change = 1e-9;
  double target_fit = 1;  // reached: ends the iteration
  CpInit init = CpInit::kSvd;
  int restarts = 0;          // further random starts; the best fit of all counts
  bool nonnegative = false;  // factors ≥ 0, by hierarchical least squares
  // Whether a fit that comes out within √ε of 1 is computed again from the tensor itself, which is
  // a pass over it: the formula's difference is rounding there. If not, it is good to about √ε.
  bool exact_fit = true;
  std::uint64_t seed = 0;
  int threads = 1;
  // Where the first start begins instead of `init`: extent × rank each, of the tensor's dtype (f32,
  // else f64). Not owned.
  const std::vector<Tensor>* start = nullptr;
};

enum class CpStop { kChange, kTargetFit, kSweeps };
std::string_view name_of(CpStop stop);

struct CpResult {
  Tensor weights = Tensor(DType::kF64, Shape());  // λ, falling
  std::vector<Tensor> factors;                    // extent × rank, columns of norm 1
  double fit = 0;                                 // 1 − ‖X − X̂‖/‖X‖
  double relative_error = 0;
  CpStop stop = CpStop::kSweeps;
  int sweeps = 0;             // of the start that won
  std::vector<double> trace;  // its fit after each sweep
  // Cosine between two components, the product over modes, furthest from 0.
  double congruence = 0;
  // Two components cancel more and more, with weights that grow without end: the best approximation
  // may not exist. Said of runs that are long enough to tell.
  bool degenerate = false;
  // Normal equations that Cholesky could not solve, and how many of which (normal_equations.h).
  int truncated = 0, ridged = 0;
};

// f32 in f32, everything else real in f64. Throws UserError: complex input, fewer than two modes,
// an empty tensor, a rank below 1, NaN or infinite entries.
CpResult cp(const TensorView& x, const CpOptions& options);
Tensor cp_reconstruct(const CpResult& decomposition);

}  // namespace assay::einsum
