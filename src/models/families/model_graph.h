// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A model as a graph, whatever its family: what follows on new tokens, given those in the caches.

#include <string>

#include "compiler/graph/graph.h"
#include "models/config/model_config.h"
#include "models/weights/model_weights.h"

namespace assay::models {

struct GraphLimits {
  std::int64_t context = 4096;  // tokens in all
  std::int64_t chunk = 256;     // new ones at once
  bool all_logits = false;      // of every new token, not of the last alone
  // So that every p and s within their intervals fit.
  std::int64_t capacity() const { return context - 1 + chunk; }
};

// Symbols: s new tokens, 1 … chunk; p that are cached, 0 … context − 1.
// Inputs: "tokens" i64 [s]; rotary_cosine(r) and rotary_sine(r) f32 [capacity, width/2] for each
// table r; weights by their names, in the dtypes and layouts of the files.
// States: key_cache(l), value_cache(l) [kv_heads, capacity, width] for each layer l, in which rows
// p … p + s − 1 are written and rows below p read.
// Output: "logits" f32 [1, vocab], or [s, vocab] of all.
// Throws UserError for a context beyond what the model knows, and a chunk beyond the context.
compiler::Graph model_graph(const ModelConfig& config, const ModelWeights& weights,
                            const GraphLimits& limits);

std::string key_cache(std::size_t layer);
std::string value_cache(std::size_t layer);

// Layers of one rotary may differ in the width of heads: a table for each pair of both.
struct RotaryUse {
  std::size_t rotary = 0;
  std::int64_t width = 0;
  bool operator==(const RotaryUse&) const = default;
};
std::vector<RotaryUse> rotary_uses(const ModelConfig& config);
std::string rotary_cosine(std::size_t table);
std::string rotary_sine(std::size_t table);

}  // namespace assay::models
