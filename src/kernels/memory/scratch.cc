// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/memory/scratch.h"

#include <array>
#include <bit>
#include <utility>

#include "base/memory.h"

namespace assay::kernels {
namespace {

// Smaller blocks are as quick from the heap.
constexpr std::size_t kLeastKept = std::size_t{64} << 10;

// Classes of size are powers of two and the halves between: a block serves every request of its
// class. The class of a request follows from its bytes alone, so that none is stored. From 256 KiB
// on a block is worth a large page: panels on small ones took a third longer to pack.
std::size_t rounded(std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  if (bytes >= kLargePage / 8 && bytes <= kLargePage) return kLargePage;
  const std::size_t power = std::bit_ceil(bytes);
  const std::size_t between = power / 4 * 3;
  return bytes <= between ? between : power;
}

class Kept {
 public:
  Kept() = default;
  ~Kept() {
    for (const Block& block : blocks_) {
      if (block.data != nullptr) free_aligned(block.data, block.size);
    }
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  // Null if there is none of this size.
  void* take(std::size_t size) {
    for (Block& block : blocks_) {
      if (block.data == nullptr || block.size != size) continue;
      total_ -= size;
      return std::exchange(block.data, nullptr);
    }
    return nullptr;
  }
  // False if there is no room for it.
  bool keep(void* data, std::size_t size) {
    if (total_ + size > kKeptBytes) return false;
    for (Block& block : blocks_) {
      if (block.data != nullptr) continue;
      block = {data, size};
      total_ += size;
      return true;
    }
    return false;
  }

 private:
  struct Block {
    void* data = nullptr;
    std::size_t size = 0;
  };
  std::array<Block, 16> blocks_;
  std::size_t total_ = 0;
};

Kept& kept() {
  thread_local Kept blocks;
  return blocks;
}

#ifdef ASSAY_SANITIZED
constexpr bool kKeeps = false;  // so that a use after the return is seen
#else
constexpr bool kKeeps = true;
#endif

}  // namespace

void* take_scratch(std::size_t bytes) {
  if (!kKeeps || bytes < kLeastKept) return allocate_aligned(bytes);
  const std::size_t size = rounded(bytes);
  void* data = kept().take(size);
  return data != nullptr ? data : allocate_aligned(size);
}

void return_scratch(void* data, std::size_t bytes) noexcept {
  if (data == nullptr) return;
  if (!kKeeps || bytes < kLeastKept) {
    free_aligned(data, bytes);
    return;
  }
  const std::size_t size = rounded(bytes);
  if (!kept().keep(data, size)) free_aligned(data, size);
}

}  // namespace assay::kernels
