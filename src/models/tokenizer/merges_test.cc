// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/merges.h"

#include <gtest/gtest.h>

#include <random>

namespace assay::models {
namespace {

// The meaning: the pair of the lowest rank, the leftmost of those, until there is none.
std::vector<TokenId> merged_plainly(const Merges& merges, std::vector<TokenId> tokens) {
  while (true) {
    Merges::Merge best;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const auto merge = merges.find(tokens[i], tokens[i + 1]);
      if (merge.rank < best.rank) best = merge, place = i;
    }
    if (best.rank == Merges::kNever) return tokens;
    tokens[place] = best.result;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

TEST(Merges, AgreeWithThePlainMeaningAtEverySize) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 30; ++round) {
    // A few letters, and tokens made of any two that are there.
    const std::uint32_t letters = 2 + static_cast<std::uint32_t>(random() % 4);
    const std::uint32_t count = 1 + static_cast<std::uint32_t>(random() % 60);
    Merges merges(count);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      const auto known = letters + rank;
      merges.set(static_cast<TokenId>(random() % known), static_cast<TokenId>(random() % known),
                 {rank, letters + rank});
    }
    Merges::Work work;
    for (const std::size_t size : {0, 1, 2, 3, 47, 48, 49, 50, 51, 300}) {
      std::vector<TokenId> tokens(size);
      for (auto& token : tokens) token = static_cast<TokenId>(random() % letters);
      auto merged = tokens;
      merges.apply(merged, work);
      ASSERT_EQ(merged, merged_plainly(merges, tokens)) << size;
    }
  }
}

TEST(Merges, TheLaterOfTwoOfAPairHolds) {
  Merges merges(3);
  merges.set(0, 1, {0, 5});
  merges.set(1, 2, {1, 6});
  merges.set(0, 1, {2, 5});
  EXPECT_EQ(merges.find(0, 1).rank, 2u);
  std::vector<TokenId> tokens = {0, 1, 2};
  Merges::Work work;
  merges.apply(tokens, work);
  EXPECT_EQ(tokens, (std::vector<TokenId>{0, 6}));
  EXPECT_EQ(merges.find(7, 7).rank, Merges::kNever);
}

// Were it quadratic, this would take hours.
TEST(Merges, AMillionEqualLettersEnd) {
  Merges merges(10);
  for (std::uint32_t i = 0; i < 10; ++i) merges.set(i, i, {i, i + 1});
  std::vector<TokenId> tokens(1'000'000, 0);
  Merges::Work work;
  merges.apply(tokens, work);
  std::vector<TokenId> expected(1'000'000 / 1024, 10);
  for (std::uint32_t bit = 10; bit-- > 0;) {
    if ((1'000'000 >> bit & 1) != 0) expected.push_back(bit);
  }
  EXPECT_EQ(tokens, expected);
}

}  // namespace
}  // namespace assay::models
