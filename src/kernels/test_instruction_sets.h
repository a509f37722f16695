// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tests that run once for each instruction set of this machine.

#include <gtest/gtest.h>

#include "kernels/targets.h"

namespace assay::kernels {

// A fixture to derive from; ASSAY_ON_INSTRUCTION_SETS(Derived) makes the runs, named by the set.
class OnInstructionSet : public testing::TestWithParam<InstructionSet> {
 protected:
  OnInstructionSet() : only_(GetParam()) {}

 private:
  OnlyInstructionSet only_;
};
#define ASSAY_ON_INSTRUCTION_SETS(Fixture)                                                   \
  INSTANTIATE_TEST_SUITE_P(, Fixture, testing::ValuesIn(assay::kernels::instruction_sets()), \
                           [](const auto& param) { return param.param.name; })

}  // namespace assay::kernels
