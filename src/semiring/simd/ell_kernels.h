// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reductions over edges, a tile of features in registers at a time.

#include <cstdint>

namespace assay::semiring::simd {

// The present slots of a few rows, one after the other. Sources may be read kPrefetch entries
// beyond the last one: what stands there is a valid row too.
template <typename T>
struct EdgeBlock {
  static constexpr int kPrefetch = 16;
  const std::int32_t* sources;
  const T* weights;
  const std::int32_t* row_ends;  // edges of row r: [row_ends[r − 1], row_ends[r]), from 0 on
  int rows;
};

// Rows of features, each contiguous.
template <typename T>
struct FeatureRows {
  const T* data;
  std::int64_t stride, features;
};

// out[r·out_stride + f] = ⊕ over the edges (w, s) of row r of w ⊗ x_sf; without edges the zero of
// ⊕. NaN in any term is kept.
template <typename T>
using EdgeReduction = void (*)(const EdgeBlock<T>& edges, const FeatureRows<T>& x, T* out,
                               std::int64_t out_stride);

template <typename T>
struct EllKernels {
  EdgeReduction<T> real, log, max_plus, min_plus, euclidean;
  EdgeReduction<T> max_times;  // ⊗ of real, ⊕ of max_plus
};

const EllKernels<float>& ell_kernels(float);
const EllKernels<double>& ell_kernels(double);
// Booleans as bytes 0 and 1; a weight is 0 or 0xFF.
EdgeReduction<std::uint8_t> boolean_ell_kernel();

}  // namespace assay::semiring::simd
