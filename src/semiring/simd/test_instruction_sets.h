// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tests that run once for each instruction set of this machine.

#include <gtest/gtest.h>

#include <vector>

#include "semiring/algebra.h"
#include "semiring/simd/targets.h"
#include "tensor/dtype.h"

namespace assay::semiring {

// A fixture to derive from; ASSAY_ON_INSTRUCTION_SETS(Derived) makes the runs, named by the set.
class OnInstructionSet : public testing::TestWithParam<simd::InstructionSet> {
 protected:
  OnInstructionSet() : only_(GetParam()) {}

 private:
  simd::OnlyInstructionSet only_;
};
#define ASSAY_ON_INSTRUCTION_SETS(Fixture)                                         \
  INSTANTIATE_TEST_SUITE_P(, Fixture, testing::ValuesIn(simd::instruction_sets()), \
                           [](const auto& param) { return param.param.name; })

// The types an algebra has kernels for.
inline std::vector<DType> dtypes_of(Algebra algebra) {
  if (algebra == Algebra::kBoolean) return {DType::kBool};
  if (algebra == Algebra::kMaxPlus || algebra == Algebra::kMinPlus) {
    return {DType::kF32, DType::kF64};
  }
  return {DType::kF32, DType::kF64, DType::kF16, DType::kBF16};
}

}  // namespace assay::semiring
