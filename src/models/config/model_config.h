// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a config.json says, in words that all families share: a graph is built of these alone.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::models {

enum class Family : std::uint8_t { kLlama, kQwen3, kGemma3, kQwen3Moe, kGemma4 };
inline constexpr Family kAllFamilies[] = {Family::kLlama, Family::kQwen3, Family::kGemma3,
                                          Family::kQwen3Moe, Family::kGemma4};
// "llama", "qwen3", "gemma3", "qwen3-moe", "gemma4".
std::string_view name_of(Family family);
// Throws UserError that lists the names.
Family family_from_name(std::string_view name);

// How far position t turns pair i of a head of width d: t · theta^(−2i/d), changed by `kind`.
struct RotaryConfig {
  enum class Kind : std::uint8_t {
    kPlain,
    kLinear,        // positions divided by `factor`
    kLlama3,        // slow pairs divided by `factor`, fast ones not, those between in part
    kProportional,  // only the first `part` of the pairs turns
  };
  Kind kind = Kind::kPlain;
  double theta = 10000;
  double factor = 1;
  double low_factor = 1, high_factor = 4;  // kLlama3: what is slow, what is fast, in turns …
  std::int64_t original_context = 0;       // … over this many positions
  double part = 1;
  bool operator==(const RotaryConfig&) const = default;
};

struct LayerConfig {
  std::int64_t heads = 0, kv_heads = 0, head_width = 0;
  std::optional<std::int64_t> window;  // keys that a query sees, itself included; none: all before
  std::size_t rotary = 0;              // which of ModelConfig::rotaries
  bool keys_are_values = false;        // values are what keys are before norm and rotary
  bool has_dense = true, has_experts = false;
  bool operator==(const LayerConfig&) const = default;
};

struct ExpertsConfig {
  std::int64_t count = 0, chosen = 0, ffn = 0;
  bool renormalises = true;  // the chosen ones' weights sum to 1
};

struct ModelConfig {
  Family family = Family::kLlama;
  // One part of a model that also sees or hears: its tensors have longer names, and there are
  // others, which are not read.
  bool is_part = false;
  std::int64_t vocab = 0, hidden = 0, ffn = 0, max_positions = 0;
  double norm_epsilon = 1e-6;
  bool norm_adds_one = false;  // weights of norms are stored less 1
  bool norms_after = false;    // attention and feed-forward have a norm behind them, too
  bool norms_queries_keys = false;
  bool norms_values = false;       // without weights
  bool gates_with_gelu = false;    // else silu
  bool scales_embeddings = false;  // by √hidden
  bool scales_layers = false;      // each by a number of its own
  bool has_tied_head = false;
  std::optional<double> attention_scale;  // none: 1/√head_width
  std::optional<double> logit_cap;        // cap · tanh(logits / cap)
  ExpertsConfig experts;
  std::vector<RotaryConfig> rotaries;
  std::vector<LayerConfig> layers;
  std::vector<std::int64_t> end_tokens;
};

// Throws UserError that names the file and the field: missing, of a wrong type or size, an option
// or an architecture that is not supported, a field that is not known.
ModelConfig model_config_from_json(const Json& json, const std::string& what);
// DIR/config.json; end tokens of DIR/generation_config.json where that has some.
ModelConfig read_model_config(const std::string& folder);

}  // namespace assay::models
