// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/attempt_row.h"

#include <gtest/gtest.h>

#include <set>

#include "lab/testing/toy_case.h"

namespace assay::lab {
namespace {

// Remembers what it was asked to draw.
class DrawnCase : public ToyCase {
 public:
  std::vector<Expectation> expect(const Json& p, int set, std::int64_t draw) const override {
    draws.insert(draw);
    return ToyCase::expect(p, set, draw);
  }
  mutable std::set<std::int64_t> draws;
};

TEST(Expectations, EveryRunDrawsRowsOfItsOwnAndTheSetsOfARunTheSame) {
  const DrawnCase definition;
  const Json point = definition.point(8);
  for (const char* run : {"run-a", "run-b"}) {
    Expectations expectations(definition, point, run);
    for (const int set : {0, 1, kJudgedSet}) expectations(set);
  }
  EXPECT_EQ(definition.draws.size(), 2u);
}

}  // namespace
}  // namespace assay::lab
