// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/init/init_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/testing/model_folder.h"
#include "models/tokenizer/tokenizer.h"

namespace assay::models {
namespace {

TEST(InitModel, FolderHasAllThatATextNeeds) {
  for (const auto family : kAllFamilies) {
    const TemporaryDirectory directory("assay-init");
    const auto path = directory.path() + "/model";
    init_model(family, "tiny", path, {});
    const LoadedModel model(path);
    const auto tokenizer = Tokenizer::from_file(path);
    EXPECT_LE(tokenizer.id_limit(), static_cast<std::size_t>(model.config.vocab));
    ASSERT_FALSE(model.config.end_tokens.empty());
    for (const auto end : model.config.end_tokens) {
      EXPECT_TRUE(tokenizer.is_special(static_cast<TokenId>(end)));
    }
    const std::string text = "Zürich, 20 °C: 𝔸 b\n";
    const auto ids = tokenizer.encode(text);
    EXPECT_EQ(tokenizer.decode(ids), text);
    // Llama and Gemma begin a text with a token of its own, Qwen does not.
    const bool is_qwen = family == Family::kQwen3 || family == Family::kQwen3Moe;
    EXPECT_EQ(tokenizer.is_special(ids[0]), !is_qwen) << name_of(family);
    EXPECT_EQ(refusal_of([&] { init_model(family, "tiny", path, {}); }),
              "there is a model already in '" + path + "'");
  }
}

TEST(InitModel, VocabularyHoldsAtLeastAllBytes) {
  EXPECT_EQ(refusal_of([] { small_tokenizer(Family::kQwen3, 258); }),
            "a vocabulary with all bytes has at least 259 tokens, not 258");
  EXPECT_EQ(
      Tokenizer::from_json(small_tokenizer(Family::kQwen3, 259).tokenizer_json, "t").id_limit(),
      259u);
  EXPECT_EQ(refusal_of([] { init_model(Family::kQwen3, "tiny", "x", {.dtype = DType::kI8}); }),
            "weights are bf16, f16 or f32, not i8");
}

}  // namespace
}  // namespace assay::models
