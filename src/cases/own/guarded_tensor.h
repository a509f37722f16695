// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A tensor that foreign code is handed. Pages that nobody may touch stand before and behind it, and
// its end lies against the one behind: an index too far is a crash at once, which is a row, not a
// value changed somewhere else, which is luck. What lies between the elements and those pages is
// marked, and looked at.

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/view.h"

namespace assay::cases::own {

class GuardedTensor {
 public:
  // Throws std::bad_alloc.
  GuardedTensor(DType dtype, Shape shape);
  GuardedTensor(GuardedTensor&& other) noexcept;
  GuardedTensor& operator=(GuardedTensor&&) = delete;
  ~GuardedTensor();

  TensorView view() const { return {dtype_, data_, shape_}; }
  MutableTensorView mutable_view() { return {dtype_, data_, shape_}; }

  // Every byte 0xFF.
  void poison();
  // From here on a write is a crash; or not again.
  void protect(bool read_only);
  // Whether the marks around the elements are as they were.
  bool is_intact() const;

 private:
  std::size_t bytes() const;

  DType dtype_;
  Shape shape_;
  std::byte* mapping_ = nullptr;  // guard pages, the open pages, guard pages
  std::size_t open_bytes_ = 0;    // of the pages between the guards
  std::byte* data_ = nullptr;     // aligned to 64
};

}  // namespace assay::cases::own
