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

TEST_F(ModelCases, OursPass) {
  for (const char* model : {"qwen3-tiny", "llama-tiny"}) {
    for (const char* dtype : {"f32", "bf16", "f16"}) {
      ModelPoint(point(model, dtype, 1)).make_folder();
      for (const int prompt : {1, 7, 40}) {
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

// In bf16, which forgives most.
TEST_F(ModelCases, WhatGoesWrongIsFound) {
  for (const char* model : {"qwen3-tiny", "llama-tiny"}) {
    const auto at = decode_point(model, "bf16", 20);
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
    EXPECT_EQ(verdict_on(at, change_config("num_hidden_layers", 3)), lab::Status::kWrongResult);
    EXPECT_EQ(verdict_on(at, change_config("rope_parameters",
                                           {{"rope_type", "default"}, {"rope_theta", 1e2}})),
              lab::Status::kWrongResult);
    if (p.config().at("model_type") == "qwen3") {
      EXPECT_EQ(verdict_on(at, change_config("model_type", "llama")), lab::Status::kWrongResult);
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
            "point: 'model' is llama-SIZE, qwen3-SIZE or a folder, not 'mamba'");
  EXPECT_EQ(refused("model", "qwen3-9b"), "size of qwen3: '9b' is none of tiny, 160m, 0.6b, 4b");
  EXPECT_EQ(refused("context", 24),
            "point: a context of 24 does not hold a prompt of 20 and 5 tokens");
  EXPECT_EQ(refused("context", 4096),
            "point: qwen3-tiny knows a context of at most 2048, not 4096");
  EXPECT_EQ(refused("tokens", 5), "");
}

}  // namespace
}  // namespace assay::cases::llm
