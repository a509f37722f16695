// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/init/write_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/testing/model_folder.h"

namespace assay::models {
namespace {

using testing::HasSubstr;

TEST(WriteModel, SeedDecides) {
  const auto bytes = [](std::uint64_t seed, DType dtype) {
    const ModelFolder folder(Family::kGemma4, {.seed = seed, .dtype = dtype});
    return read_file(folder.file("model.safetensors"));
  };
  EXPECT_EQ(bytes(1, DType::kBF16), bytes(1, DType::kBF16));
  EXPECT_NE(bytes(1, DType::kBF16), bytes(2, DType::kBF16));
  EXPECT_NE(bytes(1, DType::kBF16), bytes(1, DType::kF16));
}

TEST(WriteModel, DoesNotOverwriteAnother) {
  const ModelFolder folder(Family::kLlama);
  EXPECT_THAT(refusal_of([&] {
                write_model(config_of_size(Family::kQwen3, "tiny", "float32"), folder.path(), {});
              }),
              HasSubstr("there is a model already in '"));
}

TEST(WriteModel, SizesAreListed) {
  EXPECT_EQ(refusal_of([] { config_of_size(Family::kQwen3, "7b", "float32"); }),
            "size of qwen3: '7b' is none of tiny, 160m, 0.6b, 4b");
}

// What is said of sizes by their names: parameters within a tenth.
TEST(WriteModel, KnownModelsHaveTheirSizes) {
  const auto parameters = [](Family family, const char* size) {
    double count = 0;
    for_each_stored_weight(model_config_from_json(config_of_size(family, size, "bfloat16"), size),
                           [&](const std::string&, const Shape& shape) {
                             count += static_cast<double>(shape.element_count());
                           });
    return count;
  };
  EXPECT_NEAR(parameters(Family::kLlama, "8b"), 8.03e9, 0.01e9);
  EXPECT_NEAR(parameters(Family::kLlama, "1b"), 1.236e9, 0.001e9);
  EXPECT_NEAR(parameters(Family::kQwen3, "0.6b"), 0.596e9, 0.001e9);
  EXPECT_NEAR(parameters(Family::kQwen3, "4b"), 4.02e9, 0.01e9);
  EXPECT_NEAR(parameters(Family::kQwen3Moe, "30b-a3b"), 30.53e9, 0.01e9);
  EXPECT_NEAR(parameters(Family::kGemma3, "4b"), 3.88e9, 0.01e9);
  EXPECT_NEAR(parameters(Family::kGemma4, "26b-a4b"), 25.2e9, 1e9);
  for (const auto family : kAllFamilies) {
    EXPECT_NEAR(parameters(family, "160m"), 160e6, 16e6) << name_of(family);
  }
}

}  // namespace
}  // namespace assay::models
