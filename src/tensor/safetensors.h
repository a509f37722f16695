// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// .safetensors files: an eight-byte length, a JSON header that names every tensor with its dtype,
// shape and place, then the elements, row-major and little endian.
//
// Every dtype of ours has a name there. "C128" is our own addition to the format, so that complex
// doubles can be exchanged: other readers may refuse it.

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "tensor/tensor.h"
#include "tensor/view.h"

namespace assay {

// A .safetensors file mapped into memory. Opening parses and checks the header; elements are read
// when touched, except that those of bool tensors are checked and those that lie misaligned for
// their dtype (which the format allows) are copied. Another process that shortens the file while it
// is mapped makes reads beyond its new end fatal, as with any mapped file.
class SafetensorsFile {
 public:
  // Throws UserError that names the path for anything but a whole, valid file: tensors must lie
  // within the file, without overlap and without bytes that belong to none.
  explicit SafetensorsFile(const std::string& path);

  // All names, sorted.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }
  // Valid while this object lives, also where it is moved to. Throws UserError that names the file
  // and the tensor if it is not there.
  const TensorView& view(std::string_view name) const;
  // The free-form texts of the header ("__metadata__"), empty if there are none.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  std::string path_;
  MappedFile file_;
  std::deque<Tensor> copies_;
  std::map<std::string, TensorView, std::less<>> tensors_;
  std::map<std::string, std::string> metadata_;
};

// Writes views, each with any strides, under distinct names. Elements of larger dtypes come first
// and the header is padded, so every tensor is aligned in the file. The bytes depend on the content
// alone. The file appears complete or not at all: a temporary beside it, synced, renamed. Throws
// UserError: a repeated or unusable name, or the path and why it cannot be written.
void write_safetensors(const std::string& path,
                       const std::vector<std::pair<std::string, TensorView>>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace assay
