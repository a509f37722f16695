// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/latest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/beside/place.h"
#include "lab/testing/example_rows.h"

namespace assay::lab {
namespace {

using testing_rows::example_row;

std::vector<std::string> runs_of(const std::vector<Row>& rows) {
  std::vector<std::string> runs;
  for (const auto& row : rows) runs.push_back(row.run_id);
  return runs;
}

TEST(Latest, ARunThatSaysSomethingGoesBeforeANewerOneThatDoesNot) {
  const auto old = example_row({.run_id = "r1"});
  const auto interrupted = example_row({.run_id = "r2", .status = Status::kInterrupted});
  const auto crashed = example_row({.run_id = "r3", .status = Status::kCrashed});
  EXPECT_THAT(runs_of(latest_rows({old, interrupted})), testing::ElementsAre("r1"));
  EXPECT_THAT(runs_of(latest_rows({old, interrupted, crashed})), testing::ElementsAre("r3"));
}

// Attempts inside the runner's process are for debugging: they hide nothing.
TEST(Latest, WhatWasMeasuredInAnotherWayIsAnotherPlace) {
  const auto isolated = example_row({.run_id = "r1"});
  const auto debugging = example_row({.run_id = "r2", .isolation = "in-process"});
  EXPECT_THAT(runs_of(latest_rows({isolated, debugging})), testing::ElementsAre("r1", "r2"));
}

// A case file may say something else tomorrow under the same name: that is no newer run of it.
TEST(Latest, AnotherProblemIsAnotherPlace) {
  auto old = example_row({.run_id = "r1"}), changed = example_row({.run_id = "r2"});
  old.provenance.identity = Json{{"problem", "aaaa"}};
  changed.provenance.identity = Json{{"problem", "bbbb"}};
  EXPECT_THAT(runs_of(latest_rows({old, changed})), testing::ElementsAre("r1", "r2"));
  EXPECT_NE(place_of(old), place_of(changed));
  changed.provenance.identity = old.provenance.identity;
  EXPECT_THAT(runs_of(latest_rows({old, changed})), testing::ElementsAre("r2"));
}

}  // namespace
}  // namespace assay::lab
