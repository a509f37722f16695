// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/terminal/noise_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/testing/example_rows.h"

namespace assay::lab {
namespace {

TEST(NoiseTable, SaysWhatCannotBeTold) {
  const std::vector<Row> rows = {testing_rows::example_row({.round = 0}),
                                 testing_rows::example_row({.round = 1})};
  const auto table = noise_table(noise_lines(rows));
  EXPECT_THAT(table, testing::HasSubstr("semiring_matmul naive"));
  EXPECT_THAT(table, testing::HasSubstr("–"));
}

}  // namespace
}  // namespace assay::lab
