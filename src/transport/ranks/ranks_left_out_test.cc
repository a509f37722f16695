// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// A program without MPI.

#include <gtest/gtest.h>

#include "base/error.h"
#include "transport/ranks/ranks.h"

namespace assay::transport {
namespace {

TEST(LeftOut, RanksAreRefused) { EXPECT_THROW(Ranks ranks, EnvironmentError); }

}  // namespace
}  // namespace assay::transport
