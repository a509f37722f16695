// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What torch.export.save writes (archive format "pt2", torch 2.8 and later): a zip archive with the
// program as JSON and every tensor's elements as an entry of its own.

#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "models/config/json_field.h"
#include "models/pt2/zip_file.h"
#include "tensor/tensor.h"

namespace assay::models::pt2 {

class Archive {
 public:
  // Throws UserError that names the file, and the entry or the tensor where one is to blame: no
  // archive of this kind, big-endian, pickled tensors, a tensor outside of its entry.
  explicit Archive(const std::string& path);
  // By the first bytes of a file, whatever its name is.
  static bool is_one(const std::string& path);

  const std::string& path() const { return zip_.path(); }
  JsonField program() const { return {program_, program_place_}; }
  // Parameters, buffers and constants by their names in the module: mapped, copied only where they
  // do not lie in order or misaligned. Valid while this object lives. Null where there is none.
  const TensorView* find(std::string_view name) const;

 private:
  void read_tensors(const std::string& folder, const std::string& kind);

  ZipFile zip_;
  std::string root_, program_place_;
  Json program_;
  std::deque<Tensor> copies_;
  std::map<std::string, TensorView, std::less<>> tensors_;
};

}  // namespace assay::models::pt2
