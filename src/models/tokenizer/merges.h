// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which two neighbouring tokens become which one, and in which order; and a word's tokens, so
// merged: always the pair of the lowest rank, the leftmost of those, until there is none.

#include <cstdint>
#include <vector>

#include "models/tokenizer/vocabulary.h"

namespace assay::models {

class Merges {
 public:
  struct Merge {
    std::uint32_t rank = kNever;
    TokenId result = 0;
  };
  static constexpr std::uint32_t kNever = 0xffffffff;

  explicit Merges(std::size_t count);  // room for so many
  // A pair that comes twice has the later rank.
  void set(TokenId left, TokenId right, Merge merge);

  // rank kNever where the two do not merge.
  Merge find(TokenId left, TokenId right) const {
    const auto key = pair(left, right);
    for (std::size_t place = place_of(key);; place = (place + 1) & mask_) {
      if (slots_[place].key == key) return slots_[place].merge;
      if (slots_[place].merge.rank == kNever) return {};
    }
  }

  // Merges a word's tokens in place. n tokens take n log n.
  struct Work {
    std::vector<Merge> next;  // what each token and the one behind it become
    std::vector<std::uint32_t> after, before;
    std::vector<std::uint64_t> heap;
  };
  void apply(std::vector<TokenId>& tokens, Work& work) const;

 private:
  struct Slot {
    std::uint64_t key = 0;
    Merge merge;
  };
  static std::uint64_t pair(TokenId left, TokenId right) {
    return std::uint64_t{left} << 32 | right;
  }
  std::size_t place_of(std::uint64_t key) const {
    const std::uint64_t mixed = key * 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(mixed ^ mixed >> 32) & mask_;
  }
  void apply_to_few(std::vector<TokenId>& tokens, Work& work) const;
  void apply_to_many(std::vector<TokenId>& tokens, Work& work) const;

  std::vector<Slot> slots_;
  std::size_t mask_;
};

}  // namespace assay::models
