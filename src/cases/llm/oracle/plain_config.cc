// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/oracle/plain_config.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/input_file.h"

namespace assay::cases::llm {
namespace {

std::int64_t count_in(const Json& config, const char* key) {
  return json_field<std::int64_t>(config, key, "config.json");
}
double number_in(const Json& config, const char* key) {
  return json_field<double>(config, key, "config.json");
}

bool is_full(const Json& config, std::int64_t layer) {
  if (const auto types = config.find("layer_types"); types != config.end() && types->is_array()) {
    return types->at(static_cast<std::size_t>(layer)) == "full_attention";
  }
  const auto every = config.value("sliding_window_pattern", std::int64_t{6});
  return (layer + 1) % every == 0;
}

// Rotary embeddings by kind of layer, of files that say them in other words.
Json rope_of_gemma(const Json& config, const std::string& what) {
  Json full = {{"rope_type", "default"}};
  if (const auto it = config.find("rope_scaling"); it != config.end() && it->is_object()) {
    full = *it;
  }
  full["rope_theta"] = json_field<double>(config, "rope_theta", what);
  const double local = json_field<double>(config, "rope_local_base_freq", what);
  return {{"full_attention", full},
          {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", local}}}};
}

Json rope_of_others(const Json& config, const std::string& what) {
  Json rope = {{"rope_type", "default"}};
  if (const auto it = config.find("rope_scaling"); it != config.end() && it->is_object()) {
    rope = *it;
  }
  rope["rope_theta"] = json_field<double>(config, "rope_theta", what);
  return rope;
}

void set_gemma_layer(const Json& config, const PlainFamily& family, std::int64_t number,
                     PlainLayer& layer) {
  const bool sees_all = is_full(config, number);
  layer.rope = config.at("rope_parameters").at(sees_all ? "full_attention" : "sliding_attention");
  if (!sees_all) layer.window = count_in(config, "sliding_window");
  layer.scale = family.is_gemma4 ? 1 : 1 / std::sqrt(number_in(config, "query_pre_attn_scalar"));
  if (!family.is_gemma4) return;
  layer.has_experts = config.value("enable_moe_block", false);
  if (!sees_all) return;
  layer.width = count_in(config, "global_head_dim");
  layer.keys_are_values = config.value("attention_k_eq_v", false);
  if (layer.keys_are_values) layer.kv_heads = count_in(config, "num_global_key_value_heads");
}

}  // namespace

Json plain_config(const std::string& folder) {
  const auto path = folder + "/config.json";
  return plain_config(parse_json(read_input_file(path), path), path);
}

Json plain_config(Json config, const std::string& what) {
  constexpr std::string_view kKnown[] = {"llama", "qwen3", "gemma3_text", "qwen3_moe",
                                         "gemma4_text"};
  const auto type = config.value("model_type", std::string());
  if (std::ranges::find(kKnown, type) == std::end(kKnown)) {
    fail("{}: the suite knows the answers of {}, not of '{}'", what, fmt::join(kKnown, ", "), type);
  }
  if (!config.contains("head_dim")) {
    const auto of_all = json_field<std::int64_t>(config, "hidden_size", what) /
                        json_field<std::int64_t>(config, "num_attention_heads", what);
    config["head_dim"] = type == "qwen3" ? 128 : of_all;
  }
  if (!config.contains("rope_parameters")) {
    config["rope_parameters"] =
        type.starts_with("gemma") ? rope_of_gemma(config, what) : rope_of_others(config, what);
  }
  return config;
}

PlainFamily plain_family(const Json& config) {
  const auto type = json_field<std::string>(config, "model_type", "config.json");
  PlainFamily family;
  family.norms_heads = type != "llama";
  family.is_gemma = type.starts_with("gemma");
  family.norm_adds_one = type == "gemma3_text";
  family.is_gemma4 = type == "gemma4_text";
  family.separate_experts = type == "qwen3_moe";
  return family;
}

PlainExperts plain_experts_of(const Json& config) {
  const auto family = plain_family(config);
  if (family.separate_experts) {
    return {count_in(config, "num_experts"), count_in(config, "num_experts_per_tok"),
            count_in(config, "moe_intermediate_size"), config.value("norm_topk_prob", false)};
  }
  if (!family.is_gemma4 || !config.value("enable_moe_block", false)) return {};
  return {count_in(config, "num_experts"), count_in(config, "top_k_experts"),
          count_in(config, "moe_intermediate_size"), true};
}

std::vector<PlainLayer> plain_layers_of(const Json& config) {
  const auto family = plain_family(config);
  PlainLayer usual;
  usual.heads = count_in(config, "num_attention_heads");
  usual.kv_heads = count_in(config, "num_key_value_heads");
  usual.width = count_in(config, "head_dim");
  usual.scale = 1 / std::sqrt(static_cast<double>(usual.width));
  std::vector<PlainLayer> layers(static_cast<std::size_t>(count_in(config, "num_hidden_layers")),
                                 usual);
  const auto dense = config.value("mlp_only_layers", Json::array());
  for (std::int64_t i = 0; i < std::ssize(layers); ++i) {
    auto& layer = layers[static_cast<std::size_t>(i)];
    if (family.is_gemma) {
      set_gemma_layer(config, family, i, layer);
      continue;
    }
    layer.rope = config.at("rope_parameters");
    if (!family.separate_experts) continue;
    const bool is_dense = std::ranges::find(dense, Json(i)) != dense.end();
    layer.has_experts =
        !is_dense && (i + 1) % config.value("decoder_sparse_step", std::int64_t{1}) == 0;
    layer.has_dense = !layer.has_experts;
  }
  return layers;
}

double rotary_frequency(const Json& rope, std::int64_t pair, std::int64_t width) {
  const auto type = rope.value("rope_type", rope.value("type", std::string("default")));
  const double theta = number_in(rope, "rope_theta");
  const double frequency =
      std::pow(theta, -2 * static_cast<double>(pair) / static_cast<double>(width));
  if (type == "linear") return frequency / number_in(rope, "factor");
  if (type == "proportional") {
    const double turning =
        number_in(rope, "partial_rotary_factor") * static_cast<double>(width) / 2;
    return static_cast<double>(pair) < turning ? frequency / rope.value("factor", 1.0) : 0;
  }
  if (type == "default") return frequency;
  if (type != "llama3") fail("config.json: rope_type: not known to the oracle: '{}'", type);
  const double waves = number_in(rope, "original_max_position_embeddings") * frequency /
                       (2 * std::numbers::pi);  // within the original context
  const double low = number_in(rope, "low_freq_factor");
  const double high = number_in(rope, "high_freq_factor");
  const double kept = std::clamp((waves - low) / (high - low), 0.0, 1.0);
  return frequency * (kept + (1 - kept) / number_in(rope, "factor"));
}

}  // namespace assay::cases::llm
