// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

namespace assay::semiring::simd {

// Room for `size` elements on a cache-line boundary, not initialised.
template <typename T>
class AlignedArray {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::align_val_t kAlignment{64};

  AlignedArray() = default;
  explicit AlignedArray(std::int64_t size)
      : data_(static_cast<T*>(
            ::operator new(static_cast<std::size_t>(size) * sizeof(T), kAlignment))) {}

  T* data() const { return data_.get(); }
  T& operator[](std::int64_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* data) const noexcept { ::operator delete(data, kAlignment); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace assay::semiring::simd
