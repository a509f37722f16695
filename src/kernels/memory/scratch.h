// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Working memory that a thread keeps between calls.
//
// Fresh pages cost more than what is computed on them: a product of 1024³ packs 2 MiB, and taking
// those from the system anew takes a tenth of its time. So blocks that are given back wait for the
// next call of the same thread (base/memory.h lends huge pages where it can); at most kKeptBytes of
// them, freed when the thread ends. Nothing that a result depends on lives here.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace assay::kernels {

inline constexpr std::size_t kKeptBytes = std::size_t{128} << 20;  // for each thread

// At least `bytes` on a cache-line boundary, not initialised. Throws std::bad_alloc.
void* take_scratch(std::size_t bytes);
// What take_scratch gave for the same `bytes`, on any thread; null is ignored.
void return_scratch(void* data, std::size_t bytes) noexcept;

// Room for `size` elements of it.
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
