// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A model with weights by chance, as files that everybody's programs read: config.json,
// generation_config.json, safetensors.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/json.h"
#include "models/config/model_config.h"
#include "tensor/tensor.h"

namespace assay::models {

// A tensor of a model: depends on its name, its shape and the seed. Matrices keep the size of what
// they multiply, norms are near 1.
Tensor random_weight(const ModelConfig& config, const std::string& name, const Shape& shape,
                     DType dtype, std::uint64_t seed);

struct WriteOptions {
  std::uint64_t seed = 0;
  DType dtype = DType::kBF16;                        // f32, bf16 or f16
  std::int64_t shard_bytes = std::int64_t{4} << 30;  // of a file, as long as a tensor allows
  std::function<void(const std::string&)> progress;  // a line for each file of weights
  std::map<std::string, std::string> files;          // others beside them: name, content
};
// Makes the folder. Refuses one with a config.json in it (UserError that names it). Tensors of one
// shard are in memory at a time.
void write_model(const Json& config, const std::string& folder, const WriteOptions& options);

}  // namespace assay::models
