// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/init/write_model.h"

#include <cmath>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "models/weights/model_weights.h"
#include "tensor/fill.h"
#include "tensor/safetensors.h"

namespace assay::models {
namespace {

struct NamedWeight {
  std::string name;
  Shape shape;
};

// Names by file, in order, each file as full as it may be.
std::vector<std::vector<NamedWeight>> shards_of(const ModelConfig& config,
                                                const WriteOptions& options) {
  std::vector<std::vector<NamedWeight>> shards(1);
  std::int64_t filled = 0;
  for_each_stored_weight(config, [&](const std::string& name, const Shape& shape) {
    const auto bytes = shape.element_count() * static_cast<std::int64_t>(size_of(options.dtype));
    if (filled > 0 && filled + bytes > options.shard_bytes) {
      shards.emplace_back();
      filled = 0;
    }
    filled += bytes;
    shards.back().push_back({name, shape});
  });
  return shards;
}

void write_shard(const ModelConfig& config, const std::vector<NamedWeight>& shard,
                 const std::string& path, const WriteOptions& options) {
  std::vector<Tensor> tensors;
  std::vector<std::pair<std::string, TensorView>> views;
  for (const auto& [name, shape] : shard) {
    tensors.push_back(random_weight(config, name, shape, options.dtype, options.seed));
    views.emplace_back(name, tensors.back().view());
  }
  write_safetensors(path, views, {{"format", "pt"}});
  if (options.progress) options.progress(path);
}

}  // namespace

Tensor random_weight(const ModelConfig& config, const std::string& name, const Shape& shape,
                     DType dtype, std::uint64_t seed) {
  Tensor tensor(dtype, shape);
  const Philox stream(seed, std::stoull(short_hash(name), nullptr, 16));
  double low = 0.9, high = 1.1;  // what multiplies element by element
  if (shape.rank() >= 2) {
    // Of variance 1 / (elements of a sum), but embeddings that multiply nothing: of 1.
    const bool is_looked_up =
        name == "model.embed_tokens.weight" && !config.scales_embeddings && !config.has_tied_head;
    const auto terms = static_cast<double>(shape[shape.rank() - 1]);
    high = std::sqrt(3.0 / (is_looked_up ? 1 : terms));
    low = -high;
  } else if (config.norm_adds_one) {
    low = -0.1, high = 0.1;
  } else if (name.ends_with(".q_norm.weight") && config.attention_scale == 1) {
    // What others have as 1/√width lies in this norm.
    low /= std::sqrt(static_cast<double>(shape[0]));
    high /= std::sqrt(static_cast<double>(shape[0]));
  }
  fill_uniform(tensor.mutable_view(), stream, low, high);
  return tensor;
}

void write_model(const Json& json, const std::string& folder, const WriteOptions& options) {
  const auto config_path = folder + "/config.json";
  const auto config = model_config_from_json(json, config_path);
  std::error_code error;
  if (std::filesystem::exists(config_path, error)) {
    fail("there is a model already in '{}'", folder);
  }
  make_directories(folder);
  const auto shards = shards_of(config, options);
  if (shards.size() == 1) {
    write_shard(config, shards[0], folder + "/model.safetensors", options);
  } else {
    Json map = Json::object();
    std::int64_t total = 0;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const auto file = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
      for (const auto& [name, shape] : shards[i]) {
        map[name] = file;
        total += shape.element_count() * static_cast<std::int64_t>(size_of(options.dtype));
      }
      write_shard(config, shards[i], folder + "/" + file, options);
    }
    const Json index = {{"metadata", {{"total_size", total}}}, {"weight_map", map}};
    write_file_atomically(folder + "/model.safetensors.index.json", pretty_json(index) + "\n");
  }
  for (const auto& [name, content] : options.files) {
    write_file_atomically(folder + "/" + name, content);
  }
  Json generation = {{"do_sample", false}};
  for (const char* key : {"bos_token_id", "eos_token_id"}) {
    if (json.contains(key)) generation[key] = json.at(key);
  }
  write_file_atomically(folder + "/generation_config.json", pretty_json(generation) + "\n");
  // Last, so that a folder that has it is whole.
  write_file_atomically(config_path, pretty_json(json) + "\n");
}

}  // namespace assay::models
