// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a config.json says of a model, read for the oracle alone. Models of five families: Llama
// (with the scaled rotary embedding of 3.1), Qwen3, Gemma 3, Qwen3 with experts, and Gemma 4 with
// experts beside dense layers.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::cases::llm {

// config.json of the folder, where older files have other words for something in today's. Throws
// UserError for families that are not known here.
Json plain_config(const std::string& folder);
// The same of what is in such a file, which errors call `what`.
Json plain_config(Json config, const std::string& what);

struct PlainFamily {
  bool norms_heads = false;       // queries and keys of each head
  bool is_gemma = false;          // embeddings times √hidden, norms behind, gates of gelu
  bool norm_adds_one = false;     // weights of norms are stored less 1
  bool is_gemma4 = false;         // norms of values, a factor for each layer, capped logits
  bool separate_experts = false;  // each has tensors of its own
};
PlainFamily plain_family(const Json& config);

struct PlainExperts {
  std::int64_t count = 0, chosen = 0, ffn = 0;
  bool renormalises = true;
};
// count 0: it has none.
PlainExperts plain_experts_of(const Json& config);

struct PlainLayer {
  std::int64_t heads = 0, kv_heads = 0, width = 0;
  std::int64_t window = 0;  // keys that a query sees, itself included; 0: all before it
  double scale = 1;         // of scores
  Json rope;
  bool keys_are_values = false;
  bool has_dense = true, has_experts = false;
};
std::vector<PlainLayer> plain_layers_of(const Json& config);

// Angle by which pair number `pair` of a head turns from one position to the next.
double rotary_frequency(const Json& rope, std::int64_t pair, std::int64_t width);

}  // namespace assay::cases::llm
