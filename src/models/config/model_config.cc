// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/config/model_config.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/input_file.h"
#include "base/names.h"
#include "base/text.h"
#include "models/config/config_fields.h"
#include "models/config/rotary_fields.h"

namespace assay::models {
namespace {

constexpr auto kFamilies = make_names<Family>({{Family::kLlama, "llama"},
                                               {Family::kQwen3, "qwen3"},
                                               {Family::kGemma3, "gemma3"},
                                               {Family::kQwen3Moe, "qwen3-moe"},
                                               {Family::kGemma4, "gemma4"}});
constexpr auto kModelTypes = make_names<Family>({{Family::kLlama, "llama"},
                                                 {Family::kQwen3, "qwen3"},
                                                 {Family::kGemma3, "gemma3_text"},
                                                 {Family::kQwen3Moe, "qwen3_moe"},
                                                 {Family::kGemma4, "gemma4_text"}});

// Sizes beyond any model; products of them fit 63 bits.
constexpr std::int64_t kMostTokens = std::int64_t{1} << 24, kWidest = 1 << 20, kMostLayers = 1024,
                       kMostHeads = 4096;

// What is meant where a file does not say it: it was written by a program that leaves out what is
// usual in a family.
struct FamilyDefaults {
  std::int64_t vocab = 0, heads = 0, kv_heads = 0, positions = 0, window = 0;  // 0: must be said
  std::int64_t head_width = 0;                                                 // 0: hidden / heads
  std::int64_t attention_scalar = 0;
};
FamilyDefaults defaults_of(Family family) {
  switch (family) {
    case Family::kQwen3:
      return {.head_width = 128};
    case Family::kGemma3:
      return {.vocab = 262208,
              .heads = 8,
              .kv_heads = 4,
              .positions = 131072,
              .window = 4096,
              .head_width = 256,
              .attention_scalar = 256};
    case Family::kGemma4:
      return {.vocab = 262144,
              .heads = 8,
              .kv_heads = 4,
              .positions = 131072,
              .window = 512,
              .head_width = 256};
    default:
      return {};
  }
}
// A count that may be left out where there is a usual one.
std::int64_t count_or_usual(ConfigFields& fields, std::string_view key, std::int64_t usual,
                            std::int64_t high) {
  return usual > 0 ? fields.count_or(key, usual, 1, high) : fields.count(key, 1, high);
}

bool is_gemma(Family family) { return family == Family::kGemma3 || family == Family::kGemma4; }

void read_dense_sizes(ConfigFields& fields, ModelConfig& config) {
  const auto usual = defaults_of(config.family);
  config.vocab = count_or_usual(fields, "vocab_size", usual.vocab, kMostTokens);
  config.hidden = fields.count("hidden_size", 1, kWidest);
  config.ffn = fields.count("intermediate_size", 1, kWidest);
  config.max_positions =
      count_or_usual(fields, "max_position_embeddings", usual.positions, kMostPositions);
  config.norm_epsilon = fields.positive_or("rms_norm_eps", 1e-6);
  config.has_tied_head = fields.flag_or("tie_word_embeddings", is_gemma(config.family));
  config.end_tokens = fields.integers("eos_token_id", 0, config.vocab - 1);
}

LayerConfig read_heads(ConfigFields& fields, const ModelConfig& config) {
  const auto usual = defaults_of(config.family);
  LayerConfig layer;
  layer.heads = count_or_usual(fields, "num_attention_heads", usual.heads, kMostHeads);
  layer.kv_heads = fields.count_or(
      "num_key_value_heads", usual.kv_heads > 0 ? usual.kv_heads : layer.heads, 1, kMostHeads);
  if (usual.head_width == 0 && !fields.has("head_dim") && config.hidden % layer.heads != 0) {
    fields.refuse("num_attention_heads",
                  fmt::format("without head_dim it must divide hidden_size {}", config.hidden));
  }
  layer.head_width = fields.count_or(
      "head_dim", usual.head_width > 0 ? usual.head_width : config.hidden / layer.heads, 2, 4096);
  return layer;
}

void check_heads(const ConfigFields& fields, const LayerConfig& layer) {
  if (layer.heads % layer.kv_heads != 0) {
    fields.refuse("num_key_value_heads",
                  fmt::format("must divide the {} heads of queries", layer.heads));
  }
  if (layer.head_width % 2 != 0) fields.refuse("head_dim", "pairs turn: expected an even width");
}

void read_plain_layers(ConfigFields& fields, ModelConfig& config) {
  const auto layer = read_heads(fields, config);
  check_heads(fields, layer);
  config.rotaries = {read_common_rotary(fields)};
  config.layers.assign(static_cast<std::size_t>(fields.count("num_hidden_layers", 1, kMostLayers)),
                       layer);
}

// What layers of Gemma 4 that see all keys have else than others; two ways of writing it.
void read_global_heads(ConfigFields& fields, ModelConfig& config) {
  if (const auto* json = fields.find("per_layer_config")) {
    ConfigFields layers(*json, fields.what() + ": per_layer_config");
    for (std::size_t i = 0; i < config.layers.size(); ++i) {
      const auto key = std::to_string(i);
      const auto* of_layer = layers.find(key);
      if (of_layer == nullptr) continue;
      ConfigFields own(*of_layer, layers.what() + ": " + key);
      auto& layer = config.layers[i];
      layer.head_width = own.count_or("head_dim", layer.head_width, 2, 4096);
      layer.kv_heads = own.count_or("num_key_value_heads", layer.kv_heads, 1, kMostHeads);
      own.finish();
      check_heads(own, layer);
    }
    layers.finish();
    fields.ignore({"global_head_dim", "num_global_key_value_heads"});  // what it was made of
    return;
  }
  const auto width = fields.count_or("global_head_dim", 512, 2, 4096);
  const auto kv_heads = fields.count_or("num_global_key_value_heads", 0, 1, kMostHeads);
  for (auto& layer : config.layers) {
    if (layer.window) continue;
    layer.head_width = width;
    if (layer.keys_are_values && kv_heads > 0) layer.kv_heads = kv_heads;
    check_heads(fields, layer);
  }
}

// Layers that see all keys between layers with a window.
void read_windowed_layers(ConfigFields& fields, ModelConfig& config) {
  const auto plain = read_heads(fields, config);
  check_heads(fields, plain);
  const auto count = static_cast<std::size_t>(fields.count("num_hidden_layers", 1, kMostLayers));
  config.rotaries = read_rotaries_by_layer_type(fields, config.family);
  const auto window =
      count_or_usual(fields, "sliding_window", defaults_of(config.family).window, kMostPositions);
  // Older files say how often a layer sees all.
  const auto old_pattern = fields.count_or("sliding_window_pattern", 6, 1, kMostLayers);
  const auto pattern = fields.count_or("_sliding_window_pattern", old_pattern, 1, kMostLayers);
  std::vector<std::string> types;
  if (fields.has("layer_types")) {
    types = fields.texts("layer_types");
    if (types.size() != count) {
      fields.refuse("layer_types", fmt::format("expected one for each of {} layers", count));
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_full = (static_cast<std::int64_t>(i) + 1) % pattern == 0;
      types.emplace_back(is_full ? "full_attention" : "sliding_attention");
    }
  }
  const bool keys_are_values =
      config.family == Family::kGemma4 && fields.flag_or("attention_k_eq_v", false);
  for (std::size_t i = 0; i < count; ++i) {
    auto layer = plain;
    if (types[i] == "sliding_attention") {
      layer.window = window;
      layer.rotary = 1;
    } else if (types[i] != "full_attention") {
      fields.refuse("layer_types", "supported is full_attention or sliding_attention");
    } else {
      layer.keys_are_values = keys_are_values;
    }
    config.layers.push_back(layer);
  }
  if (config.family == Family::kGemma4) read_global_heads(fields, config);
}

void read_qwen_experts(ConfigFields& fields, ModelConfig& config) {
  // Both names of one number are in use.
  const std::string_view key =
      fields.has("num_local_experts") ? "num_local_experts" : "num_experts";
  auto& experts = config.experts;
  experts.count = fields.count(key, 1, 1 << 16);
  experts.chosen = fields.count("num_experts_per_tok", 1, experts.count);
  experts.ffn = fields.count("moe_intermediate_size", 1, kWidest);
  experts.renormalises = fields.flag_or("norm_topk_prob", false);
  const auto step = fields.count_or("decoder_sparse_step", 1, 1, kMostLayers);
  const auto dense = fields.integers("mlp_only_layers", 0, kMostLayers);
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    auto& layer = config.layers[i];
    layer.has_experts = (number + 1) % step == 0 && std::ranges::find(dense, number) == dense.end();
    layer.has_dense = !layer.has_experts;
  }
  fields.ignore({"output_router_logits", "router_aux_loss_coef"});  // training
}

void read_gemma4_experts(ConfigFields& fields, ModelConfig& config) {
  if (!fields.flag_or("enable_moe_block", false)) {
    fields.ignore({"num_experts", "top_k_experts", "moe_intermediate_size"});
    return;
  }
  auto& experts = config.experts;
  experts.count = fields.count("num_experts", 1, 1 << 16);
  experts.chosen = fields.count("top_k_experts", 1, experts.count);
  experts.ffn = fields.count("moe_intermediate_size", 1, kWidest);
  for (auto& layer : config.layers) layer.has_experts = true;
}

void read_qwen(ConfigFields& fields, ModelConfig& config) {
  config.norms_queries_keys = true;
  fields.one_of("hidden_act", {"silu"});
  read_plain_layers(fields, config);
  fields.expect("use_sliding_window", false);
  // Without use_sliding_window they say nothing.
  fields.ignore({"sliding_window", "max_window_layers"});
  if (fields.has("layer_types")) {
    for (const auto& type : fields.texts("layer_types")) {
      if (type != "full_attention") fields.refuse("layer_types", "supported is full_attention");
    }
  }
  if (config.family == Family::kQwen3Moe) read_qwen_experts(fields, config);
}

void read_gemma(ConfigFields& fields, ModelConfig& config) {
  config.norms_after = config.norms_queries_keys = true;
  config.gates_with_gelu = config.scales_embeddings = true;
  fields.expect("hidden_activation", "gelu_pytorch_tanh");
  read_windowed_layers(fields, config);
  // Of pictures, which are not read here: text stays causal.
  const auto* both_ways = fields.find("use_bidirectional_attention");
  if (both_ways != nullptr && *both_ways != "vision") {
    fields.expect("use_bidirectional_attention", false);
  }
  if (fields.has("final_logit_softcapping")) {
    config.logit_cap = fields.positive("final_logit_softcapping");
  }
  if (config.family == Family::kGemma3) {
    config.norm_adds_one = true;
    const auto usual = static_cast<double>(defaults_of(config.family).attention_scalar);
    config.attention_scale = 1 / std::sqrt(fields.positive_or("query_pre_attn_scalar", usual));
    fields.expect("attn_logit_softcapping", nullptr);
    return;
  }
  config.norms_values = config.scales_layers = true;
  config.attention_scale = 1;
  fields.expect("hidden_size_per_layer_input", 0);
  if (!fields.has("hidden_size_per_layer_input")) {
    fields.refuse("hidden_size_per_layer_input", "supported is 0, and absent means 256");
  }
  fields.expect("num_kv_shared_layers", 0);
  fields.expect("use_double_wide_mlp", false);
  fields.ignore({"vocab_size_per_layer_input"});
  read_gemma4_experts(fields, config);
}

ModelConfig text_config_from_json(const Json& json, const std::string& what) {
  ConfigFields fields(json, what);
  ModelConfig config;
  const auto type = fields.text("model_type");
  const auto family = kModelTypes.find(type);
  if (!family) fields.refuse("model_type", "supported is gemma3, gemma4, " + kModelTypes.list());
  config.family = *family;
  read_dense_sizes(fields, config);
  if (is_gemma(config.family)) {
    read_gemma(fields, config);
  } else if (config.family == Family::kLlama) {
    fields.one_of("hidden_act", {"silu"});
    fields.expect("mlp_bias", false);
    fields.expect("pretraining_tp", 1);
    read_plain_layers(fields, config);
  } else {
    read_qwen(fields, config);
  }
  fields.expect("attention_bias", false);
  // Of training, of other programs, or said better by the weights and the tokenizer.
  fields.ignore({"architectures", "attention_dropout", "bos_token_id", "pad_token_id", "dtype",
                 "torch_dtype", "initializer_range", "transformers_version", "use_cache",
                 "_name_or_path", "_attn_implementation_autoset", "cache_implementation"});
  fields.finish();
  return config;
}

// Of a model with parts: the one that reads and writes text.
ModelConfig text_part_from_json(ConfigFields& fields) {
  const auto text = fields.field("text_config");
  auto config = text_config_from_json(text.value(), text.where());
  config.is_part = true;
  config.has_tied_head = fields.flag_or("tie_word_embeddings", config.has_tied_head);
  const auto ends = fields.integers("eos_token_id", 0, config.vocab - 1);
  if (!ends.empty()) config.end_tokens = ends;
  // Nothing else in it can concern the text, but what would change its weights.
  fields.expect("quantization_config", nullptr);
  return config;
}

}  // namespace

std::string_view name_of(Family family) { return kFamilies[family]; }
Family family_from_name(std::string_view name) { return kFamilies.parse(name, "family"); }

ModelConfig model_config_from_json(const Json& json, const std::string& what) {
  ConfigFields fields(json, what);
  const auto type = fields.text("model_type");
  if (type == "gemma3" || type == "gemma4") return text_part_from_json(fields);
  return text_config_from_json(json, what);
}

ModelConfig read_model_config(const std::string& folder) {
  constexpr std::size_t kLargest = 1 << 20;
  const auto path = folder + "/config.json";
  auto config = model_config_from_json(parse_json(read_input_file(path, kLargest), path), path);
  const auto generation = folder + "/generation_config.json";
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(generation, error))) {
    const auto json = parse_json(read_input_file(generation, kLargest), generation);
    ConfigFields fields(json, generation);
    const auto ends = fields.integers("eos_token_id", 0, config.vocab - 1);
    if (!ends.empty()) config.end_tokens = ends;
  }
  return config;
}

}  // namespace assay::models
