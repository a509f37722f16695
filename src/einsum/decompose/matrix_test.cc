// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/matrix.h"

#include <gtest/gtest.h>

#include "base/philox.h"

namespace assay::einsum {
namespace {

TEST(RandomMatrix, ElementIComesOfOutputIOfItsStream) {
  for (const std::int64_t columns : {0, 1, 3, 4, 7}) {  // whole blocks of four, and parts of one
    const auto m = random_matrix<double>(3, columns, 11, 5, true);
    const Philox stream(11, 5);
    for (std::size_t i = 0; i < m.data.size(); ++i) EXPECT_EQ(m.data[i], uniform(stream[i], 0, 1));
  }
}

}  // namespace
}  // namespace assay::einsum
