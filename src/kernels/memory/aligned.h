// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "kernels/memory/scratch.h"

namespace assay::kernels {

// Room for `size` elements on a cache-line boundary, not initialised.
template <typename T>
class AlignedArray {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  AlignedArray() = default;
  explicit AlignedArray(std::int64_t size)
      : data_(static_cast<T*>(take_scratch(static_cast<std::size_t>(size) * sizeof(T))),
              Return{static_cast<std::size_t>(size) * sizeof(T)}) {}

  T* data() const { return data_.get(); }
  T& operator[](std::int64_t i) const { return data_.get()[i]; }

 private:
  struct Return {
    std::size_t bytes = 0;
    void operator()(T* data) const noexcept { return_scratch(data, bytes); }
  };
  std::unique_ptr<T, Return> data_;
};

}  // namespace assay::kernels
