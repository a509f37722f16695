// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <sys/mman.h>

#include <new>

namespace assay {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kLargePage = std::size_t{2} << 20;

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes >= kLargePage ? kLargePage : kLine};
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  void* data = ::operator new(bytes, alignment_of(bytes));
  // Advice: a refusal changes nothing.
  if (bytes >= kLargePage) ::madvise(data, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
  return data;
}

void free_aligned(void* data, std::size_t bytes) noexcept {
  ::operator delete(data, alignment_of(bytes));
}

}  // namespace assay
