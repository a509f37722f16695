// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// llm_prefill, llm_prefill_sequential and llm_decode: ours pass the oracle that shares nothing with
// them, and models that go wrong in the usual ways do not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "cases/llm/cases.h"
#include "cases/llm/model_point.h"
#include "cases/llm/oracle/plain_model.h"
#include "judged_cases.h"
#include "tensor/safetensors.h"

namespace assay::cases::llm {
namespace {

class ModelCases : public JudgedCases {
 protected:
  ModelCases() : JudgedCases(add_cases, add_workloads) {
    ::setenv("XDG_CACHE_HOME", dir_.path().c_str(), 1);
  }
  ~ModelCases() override { ::unsetenv("XDG_CACHE_HOME"); }

  static Json point(const char* model, const char* dtype, int prompt) {
    return {{"model", model}, {"dtype", dtype}, {"prompt", prompt}, {"context", 64}, {"seed", 1}};
  }
  static Json decode_point(const char* model, const char* dtype, int prompt) {
    auto p = point(model, dtype, prompt);
    p["tokens"] = 5;
    return p;
  }
  // The judge's word on answers that the oracle gives of something else.
  lab::Status verdict_on(const Json& at, PlainMatrix logits) {
    std::vector<float> values(logits.values.begin(), logits.values.end());
    const Shape shape({logits.rows, logits.columns});
    write_safetensors(dir_.path() + "/out",
                      {{"logits", TensorView(DType::kF32, values.data(), shape)}});
    const auto& c = cases_.find("llm_decode");
    const auto others = c.expect(at, 0, 0);
    return lab::judge(c.expect(at, lab::kJudgedSet, 0), dir_.path() + "/out",
                      [&](int) -> const std::vector<lab::Expectation>& { return others; })
        .status;
  }
};

constexpr const char* kTinyModels[] = {"qwen3-tiny", "llama-tiny", "gemma3-tiny", "qwen3-moe-tiny",
                                       "gemma4-tiny"};

TEST_F(ModelCases, OursPass) {
  for (const char* model : kTinyModels) {
    for (const char* dtype : {"f32", "bf16", "f16"}) {
      ModelPoint(point(model, dtype, 1)).make_folder();
      for (const int prompt : {1, 40}) {
        for (const char* name : {"llm_prefill", "llm_prefill_sequential"}) {
          const auto got = verdict(name, point(model, dtype, prompt), "assay-unsearched");
          EXPECT_EQ(got.status, lab::Status::kOk)
              << name << " " << model << " " << dtype << " " << prompt << ": " << got.message;
        }
        const auto got =
            verdict("llm_decode", decode_point(model, dtype, prompt), "assay-unsearched");
        EXPECT_EQ(got.status, lab::Status::kOk)
            << "llm_decode " << model << " " << dtype << " " << prompt << ": " << got.message;
      }
    }
  }
}

// In bf16, which forgives most; where there are experts, whose choice bf16 forgives too, in f32.
TEST_F(ModelCases, WhatGoesWrongIsFound) {
  for (const char* model : kTinyModels) {
    SCOPED_TRACE(model);
    const bool has_experts = std::string_view(model).find("moe") != std::string_view::npos ||
                             std::string_view(model).starts_with("gemma4");
    const auto at = decode_point(model, has_experts ? "f32" : "bf16", 20);
    const ModelPoint p(at);
    p.make_folder();
    const auto tokens = p.all_tokens(lab::kJudgedSet);
    EXPECT_EQ(verdict_on(at, plain_logits(p.folder(), tokens, 20)), lab::Status::kOk);
    // An answer that was kept from other inputs.
    EXPECT_EQ(verdict_on(at, plain_logits(p.folder(), p.all_tokens(0), 20)),
              lab::Status::kWrongResult);
    // A cache that holds another token.
    auto other = tokens;
    other[11] = (other[11] + 1) % 512;
    EXPECT_EQ(verdict_on(at, plain_logits(p.folder(), other, 20)), lab::Status::kWrongResult);
    // Positions that are one too far, behind a token that nobody said.
    auto shifted = tokens;
    shifted.insert(shifted.begin(), 0);
    EXPECT_EQ(verdict_on(at, plain_logits(p.folder(), shifted, 21)), lab::Status::kWrongResult);
    // The first token forgotten.
    EXPECT_EQ(verdict_on(at, plain_logits(p.folder(), std::span(tokens).subspan(1), 19)),
              lab::Status::kWrongResult);
    // Other models than the one that was meant.
    const auto change_config = [&](const char* key, const Json& value) {
      const auto folder = dir_.path() + "/changed";
      std::filesystem::remove_all(folder);
      std::filesystem::copy(p.folder(), folder);
      auto config = plain_config(folder);
      config[key] = value;
      write_file_atomically(folder + "/config.json", canonical_json(config));
      return plain_logits(folder, tokens, 20);
    };
    const auto expect_wrong_with = [&](const char* key, const Json& value) {
      EXPECT_EQ(verdict_on(at, change_config(key, value)), lab::Status::kWrongResult)
          << key << " " << value;
    };
    const auto type = p.config().at("model_type").get<std::string>();
    const auto layers = p.config().at("num_hidden_layers").get<int>();
    expect_wrong_with("num_hidden_layers", layers - 1);
    if (type.starts_with("gemma")) {
      auto rope = p.config().at("rope_parameters");
      rope["sliding_attention"]["rope_theta"] = 1e2;
      expect_wrong_with("rope_parameters", rope);
      expect_wrong_with("sliding_window", 12);
    } else {
      expect_wrong_with("rope_parameters", {{"rope_type", "default"}, {"rope_theta", 1e2}});
    }
    if (type == "qwen3") expect_wrong_with("model_type", "llama");
    if (type == "gemma3_text") expect_wrong_with("query_pre_attn_scalar", 8);
    if (type == "qwen3_moe") {
      expect_wrong_with("norm_topk_prob", false);
      expect_wrong_with("num_experts_per_tok", 1);
    }
    if (type == "gemma4_text") {
      expect_wrong_with("top_k_experts", 1);
      expect_wrong_with("enable_moe_block", false);
    }
  }
}

TEST_F(ModelCases, ModelsAreMadeOnce) {
  const ModelPoint p(point("llama-tiny", "bf16", 4));
  p.make_folder();
  const auto weights = p.folder() + "/model.safetensors";
  const auto made = std::filesystem::last_write_time(weights);
  p.make_folder();
  EXPECT_EQ(std::filesystem::last_write_time(weights), made);
  // Nothing else is left beside it.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path() + "/assay/models"), {}),
            1);
  // A folder of one's own is taken as it is.
  auto own = point("llama-tiny", "bf16", 4);
  own["model"] = p.folder();
  EXPECT_EQ(ModelPoint(own).folder(), p.folder());
}

// A prompt that is given is read as it is; sets differ in its last token, so that no answer can
// have been kept.
TEST_F(ModelCases, PromptsMayBeGiven) {
  auto at = point("qwen3-tiny", "f32", 4);
  at["ids"] = "7,500,0,31";
  const ModelPoint p(at);
  p.make_folder();
  EXPECT_EQ(p.all_tokens(0), (std::vector<std::int64_t>{7, 500, 0, 31}));
  for (const int set : {1, lab::kJudgedSet}) {
    const auto others = p.all_tokens(set);
    EXPECT_EQ(std::vector(others.begin(), others.end() - 1),
              (std::vector<std::int64_t>{7, 500, 0}));
    EXPECT_NE(others.back(), 31);
  }
  for (const char* name : {"llm_prefill", "llm_prefill_sequential"}) {
    EXPECT_EQ(verdict(name, at, "assay-unsearched").status, lab::Status::kOk);
  }
  at["tokens"] = 5;
  EXPECT_EQ(verdict("llm_decode", at, "assay-unsearched").status, lab::Status::kOk);
  const auto tokens = ModelPoint(at).all_tokens(lab::kJudgedSet);
  EXPECT_EQ(std::vector(tokens.begin(), tokens.begin() + 4),
            (std::vector<std::int64_t>{7, 500, 0, 31}));
}

// What ran out of memory ends larger budgets of the same model, and no smaller ones.
TEST_F(ModelCases, LargerBudgetsNeedMore) {
  const auto& c = cases_.find("llm_search");
  auto at = decode_point("qwen3-tiny", "bf16", 20);
  std::uint64_t before = 0;
  for (const int budget : {0, 1, 16, 64}) {
    at["budget"] = budget;
    const auto bytes = c.memory_estimate(at, "assay");
    EXPECT_GT(bytes, before);
    before = bytes;
  }
}

TEST_F(ModelCases, PointsThatMakeNoSense) {
  const auto refused = [&](const char* key, const Json& value) -> std::string {
    auto p = decode_point("qwen3-tiny", "bf16", 20);
    p[key] = value;
    try {
      cases_.find("llm_decode").complete_point(p, p);
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refused("model", "mamba"),
            "point: 'model' is FAMILY-SIZE as assay llm init has them, or a folder, not 'mamba'");
  EXPECT_EQ(refused("model", "qwen3-moe-9b"),
            "size of qwen3-moe: '9b' is none of tiny, 160m, 30b-a3b");
  EXPECT_EQ(refused("ids", "1,2"), "point: 'ids' are 2, 'prompt' says 20");
  EXPECT_EQ(refused("ids", "1,-2"),
            "point: 'ids' are numbers of tokens with commas between, not '-2'");
  EXPECT_EQ(refused("ids", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,512"),
            "point: tokens of qwen3-tiny are from 0 to 511, not 512");
  EXPECT_EQ(refused("model", "qwen3-9b"), "size of qwen3: '9b' is none of tiny, 160m, 0.6b, 4b");
  EXPECT_EQ(refused("context", 24),
            "point: a context of 24 does not hold a prompt of 20 and 5 tokens");
  EXPECT_EQ(refused("context", 4096),
            "point: qwen3-tiny knows a context of at most 2048, not 4096");
  EXPECT_EQ(refused("tokens", 5), "");
}

}  // namespace
}  // namespace assay::cases::llm
