// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"
#include "cases/llm/graph_inputs.h"
#include "cases/llm/tolerance.h"

namespace assay::cases::llm {

// The extents of a model's layer.
struct LayerSize {
  std::int64_t hidden, ffn, heads, kv_heads, head_width;
  std::int64_t experts, expert_ffn, top;  // of a mixture: `top` of `experts`
};
// "tiny", "1b".
LayerSize layer_size(const std::string& name);
inline constexpr double kNormEpsilon = 1e-5;

// A canonical point of graph_blocks, read (docs/methods/graphs.md).
struct BlockPoint : GraphProblem {
  std::string block;
  LayerSize size;
  std::int64_t tokens = 0, cached = 0;

  explicit BlockPoint(const Json& point);
  std::int64_t keys() const { return cached + tokens; }
  bool has_cache() const { return block == "transformer"; }
  // Of the output "y".
  std::vector<std::int64_t> output_shape() const;
  double multiply_adds() const;
  // Bytes that a call must move: inputs and outputs, each once; of experts those that tokens can
  // choose.
  double moved_bytes() const;
  Tolerance tolerance() const;
  // Of the new keys and values in the caches.
  Tolerance cache_tolerance() const;
};

}  // namespace assay::cases::llm
