// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/written_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cases/einsum/oracle/path_cost.h"

namespace assay::cases::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(WrittenPair, IsReadAsWritten) {
  const auto pair = written_pair("ij,jk->ki", "2x3x5");
  EXPECT_EQ(pair.terms(), (std::vector<std::string>{"ij", "jk"}));
  EXPECT_EQ(pair.extent_of(), (std::map<char, std::int64_t>{{'i', 2}, {'j', 3}, {'k', 5}}));
  EXPECT_EQ(pair.flop, 60);
  EXPECT_EQ(written_pair("i,j->ij", "2x3").flop, 6);  // nothing is summed
  EXPECT_EQ(extents_text(pair), "2x3x5");
}

TEST(WrittenPair, WhatIsNoneIsRefused) {
  const auto refused = [](const char* expression, const char* extents, const char* text) {
    EXPECT_THAT([&] { written_pair(expression, extents); },
                ThrowsMessage<UserError>(HasSubstr(text)))
        << expression << " " << extents;
  };
  refused("ij,jk", "2x3x5", "no ->");
  refused("ij->ij", "2x3", "two terms");
  refused("ij,jk,kl->il", "2x3x4x5", "two terms");
  refused("ii,ij->j", "2x3", "'i' twice");
  refused("ij,jk->ii", "2x3x5", "'i' twice");
  refused("ij,jk->il", "2x3x5", "'l' in its output alone");
  refused("i1,1k->ik", "2x3x5", "letters");
  refused("ij,jk->ik", "2x3", "3 labels need as many extents");
  refused("ij,jk->ik", "2x3x5x7", "3 labels need as many extents");
  refused("ij,jk->ik", "2x0x5", "numbers from 1");
  refused("ij,jk->ik", "2x-3x5", "numbers from 1");
  refused("ij,jk->ik", "2,3,5", "numbers like");
  refused("ij,jk->ik", "", "numbers from 1");
  refused("ij,jk->ik", "2x3x99999999999999999999", "numbers from 1");
  refused("ij,jk->ik", "100000x100000x2", "2^31");
}

TEST(RandomPairs, AreAFunctionOfTheSeedAndKeepTheirBounds) {
  const auto pairs = random_pairs(200, 401);
  ASSERT_EQ(pairs.size(), 200u);
  EXPECT_EQ(random_pairs(10, 401)[9].expression, pairs[9].expression);
  EXPECT_NE(random_pairs(1, 402)[0].expression + extents_text(random_pairs(1, 402)[0]),
            pairs[0].expression + extents_text(pairs[0]));
  int summed = 0, batched = 0;
  for (const auto& pair : pairs) {
    EXPECT_GE(pair.flop, 1 << 10);
    EXPECT_LE(pair.flop, 2.0 * (1 << 26));
    const auto terms = pair.terms();
    for (const char label : terms[0]) {
      const bool both = terms[1].find(label) != std::string::npos;
      const bool kept = pair.output().find(label) != std::string::npos;
      summed += both && !kept;
      batched += both && kept;
    }
  }
  EXPECT_GT(summed, 100);
  EXPECT_GT(batched, 100);
}

// ij,jk,kl->il with extents 2, 3, 5, 7.
TEST(PathCost, CountsOperations) {
  const LabelNetwork chain{{2, 3, 5, 7}, {{0, 1}, {1, 2}, {2, 3}}, {0, 3}};
  EXPECT_EQ(path_cost(chain, {0, 1, 3, 2}).flop, 2 * (2 * 3 * 5 + 2 * 5 * 7));
  EXPECT_EQ(path_cost(chain, {1, 2, 0, 3}).flop, 2 * (3 * 5 * 7 + 2 * 3 * 7));
  EXPECT_EQ(path_cost(chain, {0, 2, 3, 1}).flop, 3 * 2 * 3 * 5 * 7);
  EXPECT_THAT(path_cost(chain, {0, 1}).wrong, HasSubstr("2 numbers for 3 terms"));
  EXPECT_THAT(path_cost(chain, {0, 1, 0, 2}).wrong, HasSubstr("step 1 takes node 0"));
  EXPECT_THAT(path_cost(chain, {0, 1, 3, 9}).wrong, HasSubstr("takes node 9"));
  EXPECT_THAT(path_cost(chain, {0, -1, 3, 2}).wrong, HasSubstr("takes node -1"));
}

}  // namespace
}  // namespace assay::cases::einsum
