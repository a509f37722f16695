// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// X ≈ G ×₁ U₁ ×₂ U₂ … with orthonormal factors (Tucker).

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace assay::einsum {

enum class TuckerMethod {
  kHosvd,    // factors of all modes from X itself
  kStHosvd,  // each from what the ones before left: cheaper, about as good
  kHooi,     // kStHosvd, then alternating improvement
};

// How the leading vectors of an unfolding are found.
enum class RangeFinder {
  kGram,  // eigenvectors of X_(n)X_(n)ᵀ: fast, accurate to √ε of the largest singular value
  kSvd,   // of X_(n) itself: accurate to ε
  kRandomized,  // of X_(n)Ω with a random Ω: for ranks far below the extents; needs ranks
  kAuto,        // kSvd where a tolerance is too small for kGram, near √ε, else kGram
};

struct TuckerOptions {
  TuckerMethod method = TuckerMethod::kHooi;
  // One for each mode, or empty with a tolerance; with both they are the most that there may be,
  // and come before the tolerance.
  std::vector<std::int64_t> ranks;
  std::optional<double> tolerance;  // relative: each mode may lose tolerance²·‖X‖²/N
  RangeFinder finder = RangeFinder::kAuto;
  int max_sweeps = 50;     // of HOOI
  double change = 1e-12;   // of the error between sweeps that ends it
  std::uint64_t seed = 0;  // of the randomised range finder
};

struct TuckerResult {
  Tensor core = Tensor(DType::kF64, Shape());
  std::vector<Tensor> factors;  // extent × rank
  double relative_error = 0;  // ‖X − X̂‖/‖X‖, from ‖X‖² − ‖G‖²; exactly where that cancels
  int sweeps = 0;
};

// f32 in f32, everything else real in f64. Throws UserError: complex input, no ranks and no
// tolerance, a rank out of range.
TuckerResult tucker(const TensorView& x, const TuckerOptions& options);
Tensor tucker_reconstruct(const TuckerResult& decomposition);

}  // namespace assay::einsum
