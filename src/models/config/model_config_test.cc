// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/config/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/philox.h"
#include "models/testing/model_folder.h"

namespace assay::models {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Json tiny(Family family) { return config_of_size(family, "tiny", "float32"); }
ModelConfig read(const Json& json) { return model_config_from_json(json, "config.json"); }
std::string refused(const Json& json) {
  return refusal_of([&] { read(json); });
}

TEST(ModelConfig, FamiliesHaveNames) {
  for (const auto family : kAllFamilies) {
    EXPECT_EQ(family_from_name(name_of(family)), family);
    for (const auto& size : size_names(family)) {
      EXPECT_EQ(read(config_of_size(family, size, "bfloat16")).family, family) << size;
    }
  }
  EXPECT_THAT(refusal_of([] { family_from_name("gpt"); }), HasSubstr("llama, qwen3, gemma3"));
}

// As the files of Llama 3.1 have it.
TEST(ModelConfig, Llama) {
  const auto config = read(parse_json(R"({
    "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
    "bos_token_id": 128000, "eos_token_id": [128001, 128008, 128009], "hidden_act": "silu",
    "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 14336,
    "max_position_embeddings": 131072, "mlp_bias": false, "model_type": "llama",
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
    "pretraining_tp": 1, "rms_norm_eps": 1e-05,
    "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                     "original_max_position_embeddings": 8192, "rope_type": "llama3"},
    "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
    "transformers_version": "4.43.0", "use_cache": true, "vocab_size": 128256})",
                                      "text"));
  EXPECT_EQ(config.layers.size(), 32u);
  EXPECT_EQ(config.layers[31], (LayerConfig{.heads = 32, .kv_heads = 8, .head_width = 128}));
  EXPECT_EQ(config.rotaries,
            std::vector<RotaryConfig>{(RotaryConfig{.kind = RotaryConfig::Kind::kLlama3,
                                                    .theta = 5e5,
                                                    .factor = 8,
                                                    .low_factor = 1,
                                                    .high_factor = 4,
                                                    .original_context = 8192})});
  EXPECT_EQ(config.end_tokens, (std::vector<std::int64_t>{128001, 128008, 128009}));
  EXPECT_FALSE(config.norms_queries_keys || config.norms_after || config.has_tied_head);
  EXPECT_EQ(config.norm_epsilon, 1e-5);
}

// As the files of Gemma 3 have it: no layer types, a local base beside the other.
TEST(ModelConfig, OlderFilesOfGemma) {
  auto json = tiny(Family::kGemma3);
  json.erase("rope_parameters");
  json.erase("layer_types");
  json["rope_local_base_freq"] = 10000;
  json["rope_theta"] = 1e6;
  json["rope_scaling"] = {{"factor", 8.0}, {"rope_type", "linear"}};
  json["sliding_window_pattern"] = 3;
  json["cache_implementation"] = "hybrid";
  const auto config = read(json);
  ASSERT_EQ(config.rotaries.size(), 2u);
  EXPECT_EQ(config.rotaries[0],
            (RotaryConfig{.kind = RotaryConfig::Kind::kLinear, .theta = 1e6, .factor = 8}));
  EXPECT_EQ(config.rotaries[1], (RotaryConfig{.theta = 1e4}));
  for (std::size_t i = 0; i < 7; ++i) {
    const bool sees_all = i == 2 || i == 5;
    EXPECT_EQ(config.layers[i].window.has_value(), !sees_all) << i;
    EXPECT_EQ(config.layers[i].rotary, sees_all ? 0u : 1u) << i;
  }
  EXPECT_TRUE(config.has_tied_head && config.norm_adds_one && config.scales_embeddings);
}

// As the files of Gemma 3 4B have it: a part of a model that also sees, with what is usual left
// out.
TEST(ModelConfig, PartsOfModelsThatSee) {
  auto json = parse_json(R"({
    "architectures": ["Gemma3ForConditionalGeneration"], "boi_token_index": 255999,
    "eoi_token_index": 256000, "eos_token_id": [1, 106], "image_token_index": 262144,
    "initializer_range": 0.02, "mm_tokens_per_image": 256, "model_type": "gemma3",
    "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
                    "num_hidden_layers": 34, "sliding_window": 1024,
                    "rope_scaling": {"factor": 8.0, "rope_type": "linear"}},
    "torch_dtype": "bfloat16", "vision_config": {"hidden_size": 1152}})",
                         "text");
  const auto config = read(json);
  const auto expected = read(config_of_size(Family::kGemma3, "4b", "bfloat16"));
  EXPECT_TRUE(config.is_part);
  EXPECT_EQ(config.layers, expected.layers);
  EXPECT_EQ(config.rotaries, expected.rotaries);
  EXPECT_EQ(config.vocab, expected.vocab);
  EXPECT_EQ(config.attention_scale, expected.attention_scale);
  EXPECT_EQ(config.end_tokens, (std::vector<std::int64_t>{1, 106}));
  json["text_config"]["hidden_size"] = "x";
  EXPECT_THAT(refused(json), StartsWith("config.json: text_config: hidden_size: expected"));
  json.erase("text_config");
  EXPECT_EQ(refused(json), "config.json: 'text_config' is missing");
}

TEST(ModelConfig, GlobalLayersOfGemma4InBothForms) {
  auto json = tiny(Family::kGemma4);
  const auto expected = read(json);
  EXPECT_EQ(expected.layers[5], (LayerConfig{.heads = 4,
                                             .kv_heads = 1,
                                             .head_width = 32,
                                             .keys_are_values = true,
                                             .has_experts = true}));
  EXPECT_EQ(expected.layers[0].window, 16);
  json.erase("global_head_dim");
  json.erase("num_global_key_value_heads");
  json["per_layer_config"] = {{"5", {{"head_dim", 32}, {"num_key_value_heads", 1}}}};
  EXPECT_EQ(read(json).layers, expected.layers);
  json["per_layer_config"]["9"] = {{"head_dim", 32}};
  EXPECT_EQ(refused(json),
            "config.json: per_layer_config: 9: not supported, got "
            "{\"head_dim\":32}");
}

TEST(ModelConfig, ExpertsWhereTheyAre) {
  auto json = tiny(Family::kQwen3Moe);
  json["decoder_sparse_step"] = 2;
  json["mlp_only_layers"] = {3};
  const auto config = read(json);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(config.layers[i].has_experts, i == 1) << i;
    EXPECT_EQ(config.layers[i].has_dense, i != 1) << i;
  }
  json["num_local_experts"] = json["num_experts"];  // the newer name
  json.erase("num_experts");
  EXPECT_EQ(read(json).experts.count, 12);
}

TEST(ModelConfig, NamesWhatItDoesNotTake) {
  struct Change {
    const char* field;
    Json value;
    const char* answer;
  };
  const Change changes[] = {
      {"model_type", "mamba", "model_type: supported is gemma3, gemma4, llama, qwen3, "},
      {"model_type", 3, "model_type: expected a text, got 3"},
      {"hidden_size", nullptr, "'hidden_size' is missing"},
      {"hidden_size", 0, "hidden_size: expected an integer from 1 to 1048576, got 0"},
      {"hidden_size", -64, "hidden_size: expected an integer from 1 to"},
      {"hidden_size", 1e30, "hidden_size: expected an integer from 1 to"},
      {"hidden_size", std::uint64_t{1} << 63, "hidden_size: expected an integer"},
      {"hidden_size", "64", "hidden_size: expected an integer from 1 to"},
      {"num_hidden_layers", 100000, "num_hidden_layers: expected an integer from 1 to 1024"},
      {"num_key_value_heads", 3, "num_key_value_heads: must divide the 4 heads"},
      {"head_dim", 15, "head_dim: pairs turn: expected an even width, got 15"},
      {"vocab_size", nullptr, "'vocab_size' is missing"},
      {"rms_norm_eps", 0, "rms_norm_eps: expected a number above 0, got 0"},
      {"hidden_act", "relu", "hidden_act: supported is silu, got \"relu\""},
      {"attention_bias", true, "attention_bias: supported is false, got true"},
      {"mlp_bias", true, "mlp_bias: supported is false, got true"},
      {"tie_word_embeddings", "no", "tie_word_embeddings: expected true or false"},
      {"eos_token_id", 512, "eos_token_id: expected an integer from 0 to 511, got 512"},
      {"eos_token_id", {1, "x"}, "eos_token_id[1]: expected an integer from 0 to 511"},
      {"quantization_config", {{"bits", 4}}, "quantization_config: not supported, got"},
      {"rope_parameters", 5, "rope_parameters: expected an object, got 5"},
      {"rope_parameters",
       {{"rope_type", "yarn"}, {"rope_theta", 1e4}},
       "rope_parameters: rope_type: supported is default or linear or llama3 or "},
      {"rope_parameters",
       {{"rope_type", "llama3"}, {"rope_theta", 1e4}},
       "rope_parameters: 'factor' is missing"},
      {"rope_parameters",
       {{"rope_type", "default"}, {"rope_theta", 1e4}, {"mscale", 1}},
       "rope_parameters: mscale: not supported, got 1"},
      {"a\x1b[31m", 1, "a\\x1b[31m: not supported, got 1"},
  };
  for (const auto& [field, value, answer] : changes) {
    auto json = tiny(Family::kLlama);
    json[field] = value;
    EXPECT_THAT(refused(json), StartsWith(std::string("config.json: ") + answer)) << field;
  }
  EXPECT_EQ(refused(Json::array()), "config.json: expected an object, got array");
}

TEST(ModelConfig, NamesOptionsOfFamilies) {
  const auto with = [](Family family, const char* field, const Json& value) {
    auto json = tiny(family);
    json[field] = value;
    return refused(json);
  };
  EXPECT_THAT(with(Family::kQwen3, "use_sliding_window", true), HasSubstr("use_sliding_window"));
  EXPECT_THAT(with(Family::kQwen3, "layer_types", {"sliding_attention"}), HasSubstr("layer_types"));
  EXPECT_THAT(with(Family::kGemma3, "layer_types", {"full_attention"}),
              HasSubstr("layer_types: expected one for each of 7 layers"));
  EXPECT_THAT(with(Family::kGemma3, "attn_logit_softcapping", 50.0),
              HasSubstr("attn_logit_softcapping"));
  EXPECT_THAT(with(Family::kGemma3, "use_bidirectional_attention", true),
              HasSubstr("use_bidirectional_attention"));
  EXPECT_THAT(with(Family::kQwen3Moe, "num_experts_per_tok", 13),
              HasSubstr("num_experts_per_tok: expected an integer from 1 to 12, got 13"));
  EXPECT_THAT(with(Family::kGemma4, "hidden_size_per_layer_input", 256),
              HasSubstr("hidden_size_per_layer_input"));
  EXPECT_THAT(with(Family::kGemma4, "num_kv_shared_layers", 2), HasSubstr("num_kv_shared_layers"));
  EXPECT_THAT(with(Family::kGemma4, "rope_parameters", Json::object()),
              HasSubstr("rope_parameters: 'full_attention' is missing"));
}

// Bytes changed by chance: read or refused in one line, never anything else.
TEST(ModelConfig, HostileText) {
  const Philox stream(5);
  std::uint64_t drawn = 0;
  const auto below = [&](std::uint64_t bound) { return uniform_below(stream[drawn++], bound); };
  int refusals = 0;
  for (int i = 0; i < 2000; ++i) {
    auto text = canonical_json(tiny(kAllFamilies[below(5)]));
    for (std::uint64_t k = below(4) + 1; k > 0; --k) {
      const auto at = below(text.size());
      if (below(3) == 0)
        text.erase(at, below(9) + 1);
      else
        text[at] = static_cast<char>(below(256));
      if (text.empty()) text = "{";
    }
    const auto answer = refusal_of([&] { read(parse_json(text, "config.json")); });
    EXPECT_EQ(answer.find('\n'), std::string::npos) << answer;
    if (answer != "nothing was refused") ++refusals;
  }
  EXPECT_GT(refusals, 1000);
}

TEST(ModelConfig, EndTokensOfGeneration) {
  const ModelFolder folder(Family::kLlama);
  EXPECT_TRUE(read_model_config(folder.path()).end_tokens.empty());
  write_file_atomically(folder.file("generation_config.json"), R"({"eos_token_id": [3, 4]})");
  EXPECT_EQ(read_model_config(folder.path()).end_tokens, (std::vector<std::int64_t>{3, 4}));
  write_file_atomically(folder.file("generation_config.json"), R"({"eos_token_id": 512})");
  EXPECT_THAT(refusal_of([&] { read_model_config(folder.path()); }),
              HasSubstr("generation_config.json: eos_token_id: expected an integer from 0"));
}

}  // namespace
}  // namespace assay::models
