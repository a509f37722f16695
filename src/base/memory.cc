// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <new>

namespace assay {
namespace {

constexpr std::size_t kLine = 64, kPage = 4096, kLargePage = std::size_t{2} << 20;

// Blocks of a page and more begin at different places within a page. Cores tell a load from an
// earlier store by the last twelve bits of their addresses: where all matrices began on a page, a
// product of 64³ waited a fifth of its time for stores that had nothing to do with it.
constexpr std::size_t kSteps = 16;

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes >= kLargePage ? kLargePage : bytes >= kPage ? kPage : kLine};
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  if (bytes < kPage) return ::operator new(bytes, alignment_of(bytes));
  static std::atomic<std::size_t> count = 0;
  auto* base = static_cast<std::byte*>(::operator new(bytes + kPage, alignment_of(bytes)));
  // Advice: a refusal changes nothing.
  if (bytes >= kLargePage) ::madvise(base, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
  // Steps of five sixteenths: the next few blocks are far from one another too.
  return base + count.fetch_add(5, std::memory_order_relaxed) % kSteps * (kPage / kSteps);
}

void free_aligned(void* data, std::size_t bytes) noexcept {
  const auto offset = bytes < kPage ? 0 : reinterpret_cast<std::uintptr_t>(data) % kPage;
  ::operator delete(static_cast<std::byte*>(data) - offset, alignment_of(bytes));
}

}  // namespace assay
