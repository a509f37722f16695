// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Message passing over padded neighbour lists (ELL) on the device:
//
//   out_i = ⊕_p v_ip · (W x_{idx(i,p)}),   ⊕ = sum or max over the present slots
//
// with the meanings of semiring/ell.h: −1 is an absent slot, whose v is never looked at; a row
// without present slots gives 0 for sum and −∞ for max; NaN propagates. aggregate_edges() does
// not check indices: each is −1 or in [0, sources), which find_wrong_index() looks for.

#include "semiring/cuda/matmul.h"

namespace assay::semiring::cuda {

struct Edges {
  bool is_max = false;
  Scalar scalar = Scalar::kF32;  // or kF64
  std::int64_t rows = 0, slots = 0, sources = 0, features = 0, outputs = 0;
  const void *v = nullptr, *x = nullptr,
             *w = nullptr;            // (rows, slots), (sources, features), (outputs, features)
  const std::int32_t* idx = nullptr;  // (rows, slots)
  Strides v_strides{}, idx_strides{}, x_strides{}, w_strides{};
  void* out = nullptr;  // (rows, outputs), overlaps nothing
  Strides out_strides{};
};

// Enqueues a look at every index. `first`, in the device's memory, then holds the place of the
// first one that is neither −1 nor a source, counted row by row, or −1.
void find_wrong_index(const Edges& edges, std::int64_t* first, Stream stream);

std::size_t workspace_bytes(const Edges& edges);
void aggregate_edges(const Edges& edges, void* workspace, Stream stream);

}  // namespace assay::semiring::cuda
