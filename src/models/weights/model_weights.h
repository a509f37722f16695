// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tensors that a model of a config needs, found in its files.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/config/model_config.h"
#include "models/weights/weight_files.h"

namespace assay::models {

// "model.layers.3." + rest.
std::string layer_tensor(std::size_t layer, std::string_view rest);

// What the files of a model hold, one after the other, under the names that everybody uses. (Not a
// list: a config can lie about how many there are.)
using TakeWeight = std::function<void(const std::string& name, const Shape& shape)>;
void for_each_stored_weight(const ModelConfig& config, const TakeWeight& take);

// The weights of separate experts of one layer as one tensor, so that a product can take the
// matrix that it is told by number: [experts, 3, hidden · ffn], of each expert down, gate and up.
// Where files hold them so (the usual order of names in one file makes it so) that is a view of the
// file, and `order` says at which place an expert is.
std::string experts_tensor(std::size_t layer);
std::string experts_order(std::size_t layer);

class ModelWeights {
 public:
  // Throws UserError that names the file and the tensor: missing, not needed, of another shape, or
  // of a dtype other than f32, bf16 and f16.
  ModelWeights(const ModelConfig& config, const std::string& folder);
  // Names, shapes and this dtype without files: of what no file was asked, the elements are not
  // there, and reading them is a bug. For programs whose weights are made where they run.
  static ModelWeights of_shapes(const ModelConfig& config, DType dtype);
  ModelWeights(ModelWeights&&) = default;

  // By the names of for_each_stored_weight(), separate experts by experts_tensor() and
  // experts_order(). Anything else is a bug.
  const TensorView& view(const std::string& name) const;
  bool contains(const std::string& name) const { return views_.contains(name); }
  // What activations and caches are kept in: the dtype of the embeddings.
  DType dtype() const;
  // Of all tensors, and of those that had to be copied.
  std::int64_t bytes() const { return bytes_; }
  std::int64_t copied_bytes() const { return copied_bytes_; }

 private:
  ModelWeights() = default;
  void gather_experts(const ModelConfig& config, std::size_t layer);

  std::optional<WeightFiles> files_;
  std::deque<Tensor> own_;
  std::map<std::string, TensorView> views_;
  std::int64_t bytes_ = 0, copied_bytes_ = 0;
};

}  // namespace assay::models
