// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/merges.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/error.h"

namespace assay::models {
namespace {

// Up to so many tokens, looking at all of them for the lowest rank is faster than a heap.
constexpr std::size_t kFewTokens = 48;

}  // namespace

Merges::Merges(std::size_t count)
    : slots_(std::bit_ceil(2 * count + 2)), mask_(slots_.size() - 1) {}

void Merges::set(TokenId left, TokenId right, Merge merge) {
  const auto key = pair(left, right);
  std::size_t place = place_of(key);
  while (slots_[place].merge.rank != kNever && slots_[place].key != key)
    place = (place + 1) & mask_;
  slots_[place] = {key, merge};
}

void Merges::apply(std::vector<TokenId>& tokens, Work& work) const {
  if (tokens.size() < 2) return;
  check(tokens.size() < kNever, "a word has fewer than 2^32 - 1 tokens");
  work.next.resize(tokens.size());
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) work.next[i] = find(tokens[i], tokens[i + 1]);
  work.next.back() = {};
  if (tokens.size() <= kFewTokens) {
    apply_to_few(tokens, work);
  } else {
    apply_to_many(tokens, work);
  }
}

void Merges::apply_to_few(std::vector<TokenId>& tokens, Work& work) const {
  Merge* const next = work.next.data();
  TokenId* const token = tokens.data();
  std::size_t count = tokens.size();
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (next[i].rank < next[best].rank) best = i;
    }
    if (next[best].rank == kNever) break;
    token[best] = next[best].result;
    --count;
    std::copy(token + best + 2, token + count + 1, token + best + 1);
    std::copy(next + best + 2, next + count + 1, next + best + 1);
    if (best > 0) next[best - 1] = find(token[best - 1], token[best]);
    next[best] = best + 1 < count ? find(token[best], token[best + 1]) : Merge{};
  }
  tokens.resize(count);
}

void Merges::apply_to_many(std::vector<TokenId>& tokens, Work& work) const {
  const auto count = static_cast<std::uint32_t>(tokens.size());
  auto& [next, after, before, heap] = work;
  after.resize(count);
  before.resize(count);
  heap.clear();
  // By rank, then by place. What has changed since it was put there is passed over.
  const auto push = [&](std::uint32_t at) {
    if (next[at].rank == kNever) return;
    heap.push_back(std::uint64_t{next[at].rank} << 32 | at);
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    after[i] = i + 1;
    before[i] = i - 1;  // of the first: more than any place
    push(i);
  }
  std::ranges::make_heap(heap, std::greater<>());
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, std::greater<>());
    const auto at = static_cast<std::uint32_t>(heap.back());
    const auto rank = static_cast<std::uint32_t>(heap.back() >> 32);
    heap.pop_back();
    if (next[at].rank != rank) continue;
    const std::uint32_t gone = after[at];
    tokens[at] = next[at].result;
    after[at] = after[gone];
    next[gone] = {};
    tokens[gone] = Vocabulary::kNone;
    next[at] = after[at] < count ? find(tokens[at], tokens[after[at]]) : Merge{};
    const auto look = [&](std::uint32_t place) {
      if (next[place].rank == kNever) return;
      push(place);
      std::ranges::push_heap(heap, std::greater<>());
    };
    look(at);
    if (after[at] < count) before[after[at]] = at;
    if (before[at] < count) {
      next[before[at]] = find(tokens[before[at]], tokens[at]);
      look(before[at]);
    }
  }
  std::erase(tokens, Vocabulary::kNone);
}

}  // namespace assay::models
