// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that a program is given while it is verified: what is written beside it, or into what is
// only read, is found.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"

namespace assay::compiler {

// Changes with every byte: of one word that differs for certain, of several but for one chance in
// 2^64. At the speed of memory, on `threads` threads.
std::uint64_t fingerprint_of(std::span<const std::byte> bytes, int threads);

// A buffer between two guards.
class GuardedBlock {
 public:
  // A copy of what is at `from`; null: bytes of the guards. So many bytes behind where vectors and
  // lines of memory begin.
  GuardedBlock(std::size_t bytes, const std::byte* from, std::size_t shift = 0);
  // The same of other contents, at the same address where there is room.
  void hold(std::size_t bytes, const std::byte* from);
  // Contents that are others, and as good as those that it holds: each element is where the one
  // before it was, the first at the end.
  void turn(std::size_t element);
  std::size_t bytes() const { return bytes_; }
  std::byte* data() const { return block_.get() + kGuard + shift_; }
  // Whether both guards are as they were.
  bool is_whole() const;
  std::uint64_t fingerprint(int threads) const { return fingerprint_of({data(), bytes_}, threads); }

 private:
  static constexpr std::size_t kGuard = 128;  // or more

  std::size_t bytes_, capacity_, shift_;
  AlignedBlock<std::byte> block_;
};

}  // namespace assay::compiler
