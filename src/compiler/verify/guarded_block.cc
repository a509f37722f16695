// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/guarded_block.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/threads/crew.h"

namespace assay::compiler {
namespace {

// NaN in every floating-point dtype: what is read beyond the end is not lost where it is multiplied
// by 0.
constexpr std::byte kGuardByte{0xFF};

// Every step is one to one in the word it takes, so that no single change is lost. Eight of them
// side by side: none waits for another.
std::uint64_t mixed_words(const std::byte* data, std::size_t bytes) {
  constexpr std::size_t kLanes = 8;
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  std::uint64_t lanes[kLanes] = {1, 2, 3, 4, 5, 6, 7, 8}, words[kLanes];
  for (; bytes >= sizeof(words); bytes -= sizeof(words), data += sizeof(words)) {
    std::memcpy(words, data, sizeof(words));
    for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = (lanes[i] ^ words[i]) * kFactor;
  }
  std::memset(words, 0, sizeof(words));
  if (bytes > 0) std::memcpy(words, data, bytes);  // of nothing there may be no address
  std::uint64_t all = bytes;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const auto lane = (lanes[i] ^ words[i]) * kFactor;
    all = (all ^ lane ^ (lane >> 29)) * kFactor;
  }
  return all;
}

}  // namespace

std::uint64_t fingerprint_of(std::span<const std::byte> bytes, int threads) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::vector<std::uint64_t> pieces((bytes.size() + kPiece - 1) / kPiece);
  kernels::share_items(threads, static_cast<std::int64_t>(pieces.size()),
                       [&](std::int64_t item) noexcept {
                         const auto at = static_cast<std::size_t>(item) * kPiece;
                         pieces[static_cast<std::size_t>(item)] =
                             mixed_words(bytes.data() + at, std::min(kPiece, bytes.size() - at));
                       });
  return mixed_words(reinterpret_cast<const std::byte*>(pieces.data()),
                     pieces.size() * sizeof(std::uint64_t));
}

GuardedBlock::GuardedBlock(std::size_t bytes, const std::byte* from, std::size_t shift)
    : bytes_(bytes),
      capacity_(bytes),
      shift_(shift),
      block_(aligned_block<std::byte>(bytes + shift + 2 * kGuard)) {
  hold(bytes, from);
}

void GuardedBlock::hold(std::size_t bytes, const std::byte* from) {
  if (bytes > capacity_) {
    block_ = aligned_block<std::byte>(bytes + shift_ + 2 * kGuard);
    capacity_ = bytes;
  }
  bytes_ = bytes;
  std::memset(block_.get(), static_cast<int>(kGuardByte), kGuard + shift_);
  std::memset(data() + bytes, static_cast<int>(kGuardByte), capacity_ - bytes + kGuard);
  if (from == nullptr) {
    std::memset(data(), static_cast<int>(kGuardByte), bytes);
  } else if (bytes > 0) {
    std::memcpy(data(), from, bytes);
  }
}

void GuardedBlock::turn(std::size_t element) {
  if (bytes_ <= element) return;
  std::vector<std::byte> first(data(), data() + element);
  std::memmove(data(), data() + element, bytes_ - element);
  std::ranges::copy(first, data() + bytes_ - element);
}

bool GuardedBlock::is_whole() const {
  const auto is_guard = [](std::byte b) { return b == kGuardByte; };
  return std::all_of(block_.get(), data(), is_guard) &&
         std::all_of(data() + bytes_, data() + capacity_ + kGuard, is_guard);
}

}  // namespace assay::compiler
