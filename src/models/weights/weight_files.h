// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A model's tensors as they lie on disk: DIR/model.safetensors, or the shards that
// DIR/model.safetensors.index.json lists. Mapped, never copied.

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/safetensors.h"

namespace assay::models {

class WeightFiles {
 public:
  // Throws UserError that names the file, and the tensor where one is to blame: no such files, a
  // shard that is cut off or lies, an index that leads out of the folder, or that does not say of
  // exactly the shards' tensors where they are.
  explicit WeightFiles(const std::string& folder);

  struct Stored {
    TensorView view;
    const std::string* file;
  };
  // Null where there is none of that name.
  const Stored* find(std::string_view name) const;
  const std::map<std::string, Stored, std::less<>>& tensors() const { return tensors_; }
  // What a missing tensor is missing from.
  const std::string& list_path() const { return list_path_; }

 private:
  void add_file(const std::string& path);
  void add_shards(const std::string& folder);

  std::string list_path_;
  std::deque<std::string> paths_;
  std::deque<SafetensorsFile> files_;
  std::map<std::string, Stored, std::less<>> tensors_;
};

}  // namespace assay::models
