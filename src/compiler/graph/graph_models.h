// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What language models are made of, built of primitives. f16 and bf16 compute in f32 and round
// once. Shapes that do not go together are UserErrors that name them.

#include <optional>
#include <utility>

#include "compiler/graph/graph_tensor.h"

namespace assay::compiler {

struct AttentionOptions {
  std::optional<double> scale;  // none: 1 / √d
  // Query i sees key j where j ≤ i + offset (cached keys come first), and where j > i + offset −
  // window.
  bool causal = false;
  Dim offset = 0;
  std::optional<Dim> window;  // only with causal
  // Broadcast to the scores' shape: bool, true is seen; else added to the scaled scores.
  std::optional<GraphTensor> mask;
};
// softmax(scale · q kᵀ) v. q […, h, s, d], k […, g, t, d], v […, g, t, e] → […, h, s, e], where g
// divides h: query heads h / g · i … share keys i. Without axes before [s, d]: one head.
GraphTensor attention(const GraphTensor& q, const GraphTensor& k, const GraphTensor& v,
                      const AttentionOptions& options = {});

// x […, s, d] with pairs (i, i + d/2) turned by an angle: cosine and sine […, s, d/2], of x's dtype
// or f32.
GraphTensor rotary(const GraphTensor& x, const GraphTensor& cosine, const GraphTensor& sine);

// The same of […, 2, d/2], both halves beside each other; cosine and sine broadcast to it.
GraphTensor turned_pairs(const GraphTensor& pairs, const GraphTensor& cosine,
                         const GraphTensor& sine);

// Gates: silu(a) · b, gelu_tanh(a) · b.
GraphTensor swiglu(const GraphTensor& a, const GraphTensor& b);
GraphTensor geglu(const GraphTensor& a, const GraphTensor& b);

// The `count` greatest along the last axis, in falling order, of equal ones the first; and where
// they were, i64. Without NaN.
std::pair<GraphTensor, GraphTensor> top_k(const GraphTensor& x, std::int64_t count);

// Row r of x [r, k] times the matrix of its expert, weights [experts, k, n] by any view → [r, n] of
// x's dtype. An expert [r] outside counts as the nearest inside.
GraphTensor expert_matmul(const GraphTensor& x, const GraphTensor& weights,
                          const GraphTensor& expert);

}  // namespace assay::compiler
