// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/init/model_sizes.h"

#include "base/error.h"

namespace assay::models {
namespace {

// What not all families have.
struct FamilySizes {
  std::int64_t window = 0;
  std::int64_t experts = 0, chosen = 0, expert_ffn = 0;
  std::int64_t global_kv_heads = 0, global_width = 0;
  bool tied = true;
};
struct ModelSize {
  Family family;
  const char* name;
  std::int64_t layers, hidden, ffn, heads, kv_heads, width, vocab, context;
  FamilySizes own = {};
};

constexpr FamilySizes kUntied = {.tied = false};
constexpr FamilySizes window_of(std::int64_t window) { return {.window = window}; }
// How many, how many of them for a token, how wide.
constexpr FamilySizes experts_of(std::int64_t count, std::int64_t chosen, std::int64_t ffn) {
  return {.experts = count, .chosen = chosen, .expert_ffn = ffn, .tied = false};
}
// The same behind windows, and the heads of layers without one.
constexpr FamilySizes gemma4_of(std::int64_t window, std::int64_t kv_heads, std::int64_t width,
                                FamilySizes experts) {
  experts.window = window;
  experts.global_kv_heads = kv_heads;
  experts.global_width = width;
  experts.tied = true;
  return experts;
}
constexpr auto kTinyGemma4 = gemma4_of(16, 1, 32, experts_of(8, 2, 32)),
               kSmallGemma4 = gemma4_of(512, 2, 128, experts_of(20, 4, 512)),
               kLargeGemma4 = gemma4_of(1024, 2, 512, experts_of(128, 8, 704));

// Those with numbers of parameters that known models have are these models.
constexpr ModelSize kSizes[] = {
    {Family::kLlama, "tiny", 4, 64, 160, 4, 2, 16, 512, 2048, kUntied},
    {Family::kLlama, "160m", 12, 768, 3072, 12, 4, 64, 32000, 8192, kUntied},
    {Family::kLlama, "1b", 16, 2048, 8192, 32, 8, 64, 128256, 131072},
    {Family::kLlama, "8b", 32, 4096, 14336, 32, 8, 128, 128256, 131072, kUntied},
    {Family::kQwen3, "tiny", 4, 64, 160, 4, 2, 32, 512, 2048},
    {Family::kQwen3, "160m", 18, 768, 2304, 8, 4, 128, 32000, 8192},
    {Family::kQwen3, "0.6b", 28, 1024, 3072, 16, 8, 128, 151936, 40960},
    {Family::kQwen3, "4b", 36, 2560, 9728, 32, 8, 128, 151936, 40960},
    {Family::kGemma3, "tiny", 7, 64, 160, 4, 2, 32, 512, 2048, window_of(16)},
    {Family::kGemma3, "160m", 18, 640, 2048, 4, 1, 256, 98304, 8192, window_of(512)},
    {Family::kGemma3, "1b", 26, 1152, 6912, 4, 1, 256, 262144, 32768, window_of(512)},
    {Family::kGemma3, "4b", 34, 2560, 10240, 8, 4, 256, 262208, 131072, window_of(1024)},
    {Family::kQwen3Moe, "tiny", 4, 64, 160, 4, 2, 32, 512, 2048, experts_of(12, 3, 48)},
    {Family::kQwen3Moe, "160m", 8, 512, 1536, 8, 2, 64, 16384, 8192, experts_of(16, 4, 640)},
    {Family::kQwen3Moe, "30b-a3b", 48, 2048, 6144, 32, 4, 128, 151936, 40960,
     experts_of(128, 8, 768)},
    {Family::kGemma4, "tiny", 6, 64, 96, 4, 2, 16, 512, 2048, kTinyGemma4},
    {Family::kGemma4, "160m", 6, 640, 1280, 8, 4, 64, 32768, 8192, kSmallGemma4},
    {Family::kGemma4, "26b-a4b", 30, 2816, 2112, 16, 8, 256, 262144, 262144, kLargeGemma4},
};

const ModelSize& find_size(Family family, std::string_view name) {
  std::string list;
  for (const auto& size : kSizes) {
    if (size.family != family) continue;
    if (size.name == name) return size;
    list += (list.empty() ? "" : ", ") + std::string(size.name);
  }
  fail("size of {}: '{}' is none of {}", name_of(family), name, list);
}

void add_gemma_fields(const ModelSize& size, Json& json) {
  json["hidden_activation"] = "gelu_pytorch_tanh";
  json["sliding_window"] = size.own.window;
  Json types = Json::array();
  for (std::int64_t i = 1; i <= size.layers; ++i) {
    types.push_back(i % 6 == 0 ? "full_attention" : "sliding_attention");
  }
  json["layer_types"] = types;
  Json full = {{"rope_type", "linear"}, {"rope_theta", 1e6}, {"factor", 8.0}};
  if (size.family == Family::kGemma4) {
    full = {{"rope_type", "proportional"}, {"rope_theta", 1e6}, {"partial_rotary_factor", 0.25}};
  }
  json["rope_parameters"] = {
      {"full_attention", full},
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}}};
  if (size.family == Family::kGemma3) {
    json["query_pre_attn_scalar"] = size.width;
    return;
  }
  json["final_logit_softcapping"] = 30.0;
  json["attention_k_eq_v"] = true;
  json["global_head_dim"] = size.own.global_width;
  json["num_global_key_value_heads"] = size.own.global_kv_heads;
  json["hidden_size_per_layer_input"] = 0;
  json["num_kv_shared_layers"] = 0;
  json["use_double_wide_mlp"] = false;
  json["enable_moe_block"] = true;
  json["num_experts"] = size.own.experts;
  json["top_k_experts"] = size.own.chosen;
  json["moe_intermediate_size"] = size.own.expert_ffn;
}

void add_family_fields(const ModelSize& size, Json& json) {
  switch (size.family) {
    case Family::kLlama:
      json["model_type"] = "llama";
      json["architectures"] = {"LlamaForCausalLM"};
      json["rms_norm_eps"] = 1e-5;
      json["mlp_bias"] = false;
      json["rope_parameters"] = {
          {"rope_type", "llama3"},   {"rope_theta", 5e5},
          {"factor", 8.0},           {"low_freq_factor", 1.0},
          {"high_freq_factor", 4.0}, {"original_max_position_embeddings", size.context / 16}};
      break;
    case Family::kQwen3Moe:
      json["num_experts"] = size.own.experts;
      json["num_experts_per_tok"] = size.own.chosen;
      json["moe_intermediate_size"] = size.own.expert_ffn;
      json["norm_topk_prob"] = true;
      json["decoder_sparse_step"] = 1;
      json["mlp_only_layers"] = Json::array();
      [[fallthrough]];
    case Family::kQwen3: {
      const bool is_moe = size.family == Family::kQwen3Moe;
      json["model_type"] = is_moe ? "qwen3_moe" : "qwen3";
      json["architectures"] = {is_moe ? "Qwen3MoeForCausalLM" : "Qwen3ForCausalLM"};
      json["use_sliding_window"] = false;
      json["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 1e6}};
      break;
    }
    case Family::kGemma3:
    case Family::kGemma4: {
      const bool is_4 = size.family == Family::kGemma4;
      json["model_type"] = is_4 ? "gemma4_text" : "gemma3_text";
      json["architectures"] = {is_4 ? "Gemma4ForCausalLM" : "Gemma3ForCausalLM"};
      add_gemma_fields(size, json);
      break;
    }
  }
  if (!json.contains("hidden_activation")) json["hidden_act"] = "silu";
}

}  // namespace

std::vector<std::string> size_names(Family family) {
  std::vector<std::string> names;
  for (const auto& size : kSizes) {
    if (size.family == family) names.emplace_back(size.name);
  }
  return names;
}

Json config_of_size(Family family, std::string_view name, std::string_view dtype) {
  const auto& size = find_size(family, name);
  Json json = {{"vocab_size", size.vocab},
               {"hidden_size", size.hidden},
               {"intermediate_size", size.ffn},
               {"num_hidden_layers", size.layers},
               {"num_attention_heads", size.heads},
               {"num_key_value_heads", size.kv_heads},
               {"head_dim", size.width},
               {"max_position_embeddings", size.context},
               {"rms_norm_eps", 1e-6},
               {"attention_bias", false},
               {"attention_dropout", 0.0},
               {"tie_word_embeddings", size.own.tied},
               {"use_cache", true},
               {"dtype", dtype}};
  add_family_fields(size, json);
  return json;
}

}  // namespace assay::models
