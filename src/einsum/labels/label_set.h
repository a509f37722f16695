// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>

#include "einsum/labels/notation.h"

namespace assay::einsum {

// A set of labels of one problem, kWords · 64 of them at most. A search over few labels uses a
// narrow set: it spends its time in these operations.
template <int kWords>
class BasicLabelSet {
 public:
  static constexpr int kCapacity = 64 * kWords;

  void insert(Label l) { word(l) |= bit(l); }
  void erase(Label l) { word(l) &= ~bit(l); }
  bool contains(Label l) const { return (words_[static_cast<std::size_t>(l / 64)] & bit(l)) != 0; }
  bool empty() const { return *this == BasicLabelSet(); }
  int size() const {
    int count = 0;
    for (const auto w : words_) count += std::popcount(w);
    return count;
  }

  friend BasicLabelSet operator|(BasicLabelSet a, const BasicLabelSet& b) {
    for (std::size_t i = 0; i < kWords; ++i) a.words_[i] |= b.words_[i];
    return a;
  }
  friend BasicLabelSet operator&(BasicLabelSet a, const BasicLabelSet& b) {
    for (std::size_t i = 0; i < kWords; ++i) a.words_[i] &= b.words_[i];
    return a;
  }
  // The labels of a that are not in b.
  friend BasicLabelSet operator-(BasicLabelSet a, const BasicLabelSet& b) {
    for (std::size_t i = 0; i < kWords; ++i) a.words_[i] &= ~b.words_[i];
    return a;
  }
  friend bool operator==(const BasicLabelSet&, const BasicLabelSet&) = default;
  friend auto operator<=>(const BasicLabelSet&, const BasicLabelSet&) = default;

  // Calls f with every label, ascending.
  template <typename F>
  void for_each(F&& f) const {
    for (int i = 0; i < kWords; ++i) {
      for (auto w = words_[static_cast<std::size_t>(i)]; w != 0; w &= w - 1) {
        f(static_cast<Label>(64 * i + std::countr_zero(w)));
      }
    }
  }
  const std::array<std::uint64_t, kWords>& words() const { return words_; }

 private:
  static std::uint64_t bit(Label l) { return std::uint64_t{1} << (l % 64); }
  std::uint64_t& word(Label l) { return words_[static_cast<std::size_t>(l / 64)]; }

  std::array<std::uint64_t, kWords> words_{};
};

using LabelSet = BasicLabelSet<kMaxLabels / 64>;

}  // namespace assay::einsum
