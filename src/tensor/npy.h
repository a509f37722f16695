// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// NumPy's .npy files: format versions 1.0, 2.0 and 3.0, C and Fortran order.
//
// The dtypes are bool, the integers, f16, f32, f64, c64 and c128 in either byte order. NumPy has no
// bfloat16: it is refused. So are structured, object, string and time dtypes.

#include <deque>
#include <optional>
#include <string>

#include "base/file.h"
#include "tensor/tensor.h"
#include "tensor/view.h"

namespace assay {

// A .npy file mapped into memory. Bytes are read when touched; foreign byte order is turned where
// it is mapped, and only elements that lie misaligned in the file are copied. Another process that
// shortens the file while it is mapped makes reads beyond its new end fatal, as with any mapped
// file.
class NpyFile {
 public:
  // Throws UserError that names the path for anything but a whole, valid file.
  explicit NpyFile(const std::string& path);

  // Fortran order shows in the strides. Valid while this object lives, also where it is moved to.
  const TensorView& view() const { return *view_; }

 private:
  MappedFile file_;
  std::deque<Tensor> copies_;
  std::optional<TensorView> view_;
};

// The file's elements, row-major, in memory. Throws as NpyFile does.
Tensor read_npy(const std::string& path);

struct NpyOptions {
  int version = 1;             // 1, 2 or 3: what NumPy itself writes for plain dtypes is 1
  bool fortran_order = false;  // write column-major
};

// Writes any view. The file appears complete or not at all: a temporary beside it, synced, renamed.
// Throws UserError: a dtype NumPy lacks (bf16), or the path and why it cannot be written.
void write_npy(const std::string& path, const TensorView& view, const NpyOptions& options = {});

}  // namespace assay
