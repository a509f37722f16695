// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory for numbers: on cache-line boundaries, and on large pages where it is big enough and the
// system lends them (as NumPy asks for its arrays). Small pages cost a tenth of a matrix product in
// look-ups of addresses, and half the time of touching memory for the first time in page faults.

#include <cstddef>
#include <memory>

namespace assay {

// At least `bytes`, aligned to 64, not initialised. Throws std::bad_alloc.
void* allocate_aligned(std::size_t bytes);
// What allocate_aligned gave for the same `bytes`; null is ignored.
void free_aligned(void* data, std::size_t bytes) noexcept;

// For std::unique_ptr.
struct FreeAligned {
  std::size_t bytes = 0;
  void operator()(void* data) const noexcept { free_aligned(data, bytes); }
};

template <typename T>
using AlignedBlock = std::unique_ptr<T, FreeAligned>;

// Room for `size` elements of a type that needs no constructor.
template <typename T>
AlignedBlock<T> aligned_block(std::size_t size) {
  const std::size_t bytes = size * sizeof(T);
  return {static_cast<T*>(allocate_aligned(bytes)), FreeAligned{bytes}};
}

}  // namespace assay
