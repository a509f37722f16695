// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/weights/model_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "base/philox.h"
#include "models/testing/model_folder.h"

namespace assay::models {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string refusal_of_folder(const ModelFolder& folder) {
  return refusal_of([&] { LoadedModel model(folder.path()); });
}

// The file's tensors, to be written again with something changed.
struct Rewritten {
  explicit Rewritten(const std::string& path) : path_(path) {
    const SafetensorsFile file(path);
    for (const auto& name : file.names()) tensors.emplace(name, Tensor::copy(file.view(name)));
  }
  void write() const {
    std::vector<std::pair<std::string, TensorView>> views;
    for (const auto& [name, tensor] : tensors) views.emplace_back(name, tensor.view());
    write_safetensors(path_, views);
  }
  std::map<std::string, Tensor> tensors;

 private:
  std::string path_;
};

TEST(ModelWeights, MissingExtraAndWrongOnesAreNamed) {
  const auto refused = [](const std::function<void(std::map<std::string, Tensor>&)>& change) {
    const ModelFolder folder(Family::kQwen3);
    Rewritten file(folder.file("model.safetensors"));
    change(file.tensors);
    file.write();
    return refusal_of_folder(folder);
  };
  const auto* name = "model.layers.2.mlp.up_proj.weight";
  EXPECT_THAT(
      refused([&](auto& tensors) { tensors.erase(name); }),
      EndsWith("/model.safetensors: tensor 'model.layers.2.mlp.up_proj.weight' is missing"));
  EXPECT_THAT(refused([&](auto& tensors) {
                tensors.at(name) = Tensor(DType::kF32, Shape({64, 160}));
              }),
              EndsWith("/model.safetensors: tensor 'model.layers.2.mlp.up_proj.weight': expected "
                       "shape 160x64, got 64x160"));
  EXPECT_THAT(refused([&](auto& tensors) {
                tensors.at(name) = Tensor(DType::kI8, Shape({160, 64}));
              }),
              EndsWith("tensor 'model.layers.2.mlp.up_proj.weight': expected f32, bf16 or f16, got "
                       "i8"));
  EXPECT_THAT(refused([&](auto& tensors) {
                tensors.emplace("model.layers.4.x\n", Tensor(DType::kF32, Shape({1})));
              }),
              EndsWith("/model.safetensors: tensor 'model.layers.4.x\\n' belongs to no part of the "
                       "model"));
  // What follows from the rest is let pass: the head is the embeddings.
  EXPECT_EQ(refused([&](auto& tensors) {
              tensors.emplace("lm_head.weight",
                              Tensor::copy(tensors.at("model.embed_tokens.weight").view()));
              tensors.emplace("model.layers.0.self_attn.rotary_emb.inv_freq",
                              Tensor(DType::kF32, Shape({16})));
            }),
            "nothing was refused");
  // Another one is not: whoever wrote it meant something.
  EXPECT_THAT(refused([&](auto& tensors) {
                auto head = Tensor::copy(tensors.at("model.embed_tokens.weight").view());
                head.bytes()[5] ^= std::byte{1};
                tensors.emplace("lm_head.weight", std::move(head));
              }),
              EndsWith("/model.safetensors: tensor 'lm_head.weight' is not "
                       "model.embed_tokens.weight, though config.json says tie_word_embeddings"));
}

TEST(ModelWeights, NoFilesAndCutFiles) {
  const ModelFolder folder(Family::kLlama);
  const auto path = folder.file("model.safetensors");
  const auto whole = read_file(path);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write_file_atomically(path, whole.substr(0, size));
    EXPECT_THAT(refusal_of_folder(folder), StartsWith(path + ": ")) << size;
  }
  std::filesystem::remove(path);
  EXPECT_THAT(refusal_of_folder(folder), StartsWith("no weights: neither model.safetensors nor "
                                                    "model.safetensors.index.json in '"));
  std::filesystem::create_symlink("model.safetensors", path);  // of itself
  EXPECT_THAT(refusal_of_folder(folder), HasSubstr(path));
}

TEST(ModelWeights, ShardsAreTheSameModel) {
  for (const auto family : kAllFamilies) {
    const ModelFolder whole(family);
    const ModelFolder parts(family, {.dtype = DType::kF32, .shard_bytes = 50'000});
    EXPECT_FALSE(std::filesystem::exists(parts.file("model.safetensors")));
    const LoadedModel a(whole.path()), b(parts.path());
    for_each_stored_weight(a.config, [&](const std::string& name, const Shape&) {
      const auto &x = a.weights.view(name), &y = b.weights.view(name);
      ASSERT_EQ(x.byte_count(), y.byte_count());
      EXPECT_EQ(std::memcmp(x.raw_data(), y.raw_data(), static_cast<std::size_t>(x.byte_count())),
                0)
          << name;
    });
    EXPECT_EQ(a.weights.copied_bytes(), 0);
    const auto tokens = some_tokens(a.config.vocab, 9);
    auto one = session_of(a, {.context = 9, .chunk = 9}),
         other = session_of(b, {.context = 9, .chunk = 9});
    const auto said = one.extend(tokens), said_too = other.extend(tokens);
    EXPECT_EQ(std::vector<float>(said.begin(), said.end()),
              std::vector<float>(said_too.begin(), said_too.end()));
  }
}

// In the usual order of names "10" comes before "2"; in a file of its own it is elsewhere.
TEST(ModelWeights, ExpertsAreFoundWhereTheyLie) {
  const ModelFolder whole(Family::kQwen3Moe);
  const ModelFolder parts(Family::kQwen3Moe, {.dtype = DType::kF32, .shard_bytes = 50'000});
  const LoadedModel a(whole.path()), b(parts.path());
  EXPECT_GT(b.weights.copied_bytes(), 0);
  for (const auto* model : {&a, &b}) {
    const auto& all = model->weights.view(experts_tensor(2));
    const auto& order = model->weights.view(experts_order(2));
    EXPECT_EQ(all.shape(), Shape({12, 3, 64 * 48}));
    for (std::int64_t expert = 0; expert < 12; ++expert) {
      const auto place = order.at<std::int64_t>(expert);
      const char* parts_of[] = {"down_proj", "gate_proj", "up_proj"};
      for (std::int64_t i = 0; i < 3; ++i) {
        const auto& view = model->weights.view(
            layer_tensor(2, fmt::format("mlp.experts.{}.{}.weight", expert, parts_of[i])));
        EXPECT_EQ(std::memcmp(view.raw_data(), &all.at<float>(place, i, 0),
                              static_cast<std::size_t>(view.byte_count())),
                  0)
            << expert;
      }
    }
  }
  EXPECT_EQ(a.weights.view(experts_order(2)).at<std::int64_t>(2), 4);
}

TEST(ModelWeights, IndexIsHeldToItsWord) {
  const ModelFolder folder(Family::kLlama, {.dtype = DType::kBF16, .shard_bytes = 50'000});
  const auto path = folder.file("model.safetensors.index.json");
  const auto index = read_json_file(path);
  const auto refused = [&](const std::function<void(Json&)>& change) {
    auto changed = index;
    change(changed["weight_map"]);
    write_file_atomically(path, canonical_json(changed));
    return refusal_of_folder(folder);
  };
  const auto* name = "model.norm.weight";
  for (const char* file : {"../model.safetensors", "/etc/passwd", "a/b.safetensors", "", ".",
                           ".hidden.safetensors", "model.safetensors.index.json"}) {
    EXPECT_THAT(refused([&](Json& map) { map[name] = file; }),
                AllOf(StartsWith(path + ": tensor 'model.norm.weight': expected the name of a "
                                        ".safetensors file in the same folder, got"),
                      HasSubstr(file)));
  }
  EXPECT_THAT(refused([&](Json& map) { map[name] = 7; }), EndsWith("in the same folder, got 7"));
  EXPECT_THAT(refused([&](Json& map) { map[name] = "other.safetensors"; }),
              HasSubstr("is not listed there by"));
  EXPECT_THAT(refused([&](Json& map) { map.erase(name); }),
              HasSubstr("tensor 'model.norm.weight' is not listed there by"));
  EXPECT_THAT(refused([&](Json& map) { map["more"] = map[name]; }),
              HasSubstr("no tensor 'more', which"));
  EXPECT_THAT(refused([&](Json& map) { map = "x"; }),
              EndsWith("field 'weight_map': expected an object"));
  EXPECT_EQ(refused([](Json&) {}), "nothing was refused");
}

// Files changed by chance: the same model, another one, or one line; never anything else.
TEST(ModelWeights, HostileFiles) {
  const Philox stream(11);
  std::uint64_t drawn = 0;
  const auto below = [&](std::uint64_t bound) { return uniform_below(stream[drawn++], bound); };
  const ModelFolder folder(Family::kQwen3Moe, {.dtype = DType::kF16});
  const auto path = folder.file("model.safetensors");
  const auto whole = read_file(path);
  std::uint64_t header = 0;
  std::memcpy(&header, whole.data(), 8);
  const auto config = read_model_config(folder.path());
  for (int i = 0; i < 300; ++i) {
    auto text = whole;
    for (std::uint64_t k = below(3) + 1; k > 0; --k) {
      text[below(header + 8)] = static_cast<char>(below(256));
    }
    if (below(4) == 0) text.resize(below(text.size()));
    write_file_atomically(path, text);
    const auto answer = refusal_of([&] { ModelWeights weights(config, folder.path()); });
    EXPECT_EQ(answer.find('\n'), std::string::npos) << answer;
    if (answer != "nothing was refused") {
      EXPECT_THAT(answer, StartsWith(path + ": "));
    }
  }
}

}  // namespace
}  // namespace assay::models
