// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "compiler/cpu/test_product.h"
#include "kernels/test_instruction_sets.h"

namespace assay::compiler {
namespace {

class CpuMatmulTest : public kernels::OnInstructionSet {};

using Sizes = std::array<std::int64_t, 3>;
constexpr Sizes kSizes[] = {{0, 3, 2},    {2, 0, 3},   {1, 1, 1},     {1, 7, 5},
                            {1, 257, 33}, {2, 64, 70}, {3, 31, 17},   {5, 100, 65},
                            {8, 129, 13}, {9, 40, 25}, {17, 300, 37}, {64, 65, 49},
                            {70, 33, 1},  {37, 5, 2},  {129, 40, 8},  {50, 100, 6}};

TEST_P(CpuMatmulTest, AllLayoutsAndDTypes) {
  const DType dtypes[][3] = {
      {DType::kF32, DType::kF32, DType::kF32},  {DType::kBF16, DType::kBF16, DType::kBF16},
      {DType::kF16, DType::kF16, DType::kF16},  {DType::kF32, DType::kBF16, DType::kF32},
      {DType::kBF16, DType::kF32, DType::kF16}, {DType::kF64, DType::kF64, DType::kF64},
      {DType::kI32, DType::kI32, DType::kI32}};
  std::uint64_t seed = 0;
  for (const auto& [a, b, out] : dtypes) {
    for (const auto& [m, k, n] : kSizes) {
      for (int how = 0; how < 9 && !HasFailure(); ++how) {
        KernelCheck check(++seed);
        Matmul work{.a = laid_out(check, a, m, k, how / 3), .b = laid_out(check, b, k, n, how % 3)};
        work.accumulate = a == DType::kF64 || a == DType::kI32 ? a : DType::kF32;
        work.out = check.whole(check.add_output(out, {m, n}));
        check.kernel.work = work;
        const double bound = a == DType::kI32 ? 0 : bound_of_sums(work.accumulate, out, k);
        check.expect_equal(0, bound,
                           std::string(name_of(a)) + " " + std::to_string(m) + " " +
                               std::to_string(k) + " " + std::to_string(n) + " layout " +
                               std::to_string(how));
      }
    }
  }
}

TEST_P(CpuMatmulTest, WhatIsNotFiniteStaysSo) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const std::int64_t m : {1, 4, 20}) {
      KernelCheck check(static_cast<std::uint64_t>(m));
      Matmul work{.a = laid_out(check, dtype, m, 50, 0), .b = laid_out(check, dtype, 50, 30, 1)};
      check.set(work.a.operand, 7, kInf);
      check.set(work.b.operand, 50 * 3 + 8, std::nan(""));
      check.set(work.b.operand, 50 * 5 + 9, -kInf);
      check.set(work.b.operand, 50 * 6 + 7, 0);
      work.out = check.whole(check.add_output(dtype, {m, 30}));
      check.kernel.work = work;
      check.expect_equal(0, bound_of_sums(DType::kF32, dtype, 50), std::string(name_of(dtype)));
    }
  }
}

// More terms, tokens and columns than are taken at once.
TEST_P(CpuMatmulTest, SeveralBlocks) {
  const Sizes sizes[] = {{3, 1500, 21},  {7, 2100, 20},  {33, 1100, 60}, {270, 512, 26},
                         {1, 300, 4099}, {6, 257, 1027}, {1025, 31, 45}, {4099, 300, 1},
                         {1500, 70, 3},  {1027, 257, 6}, {20, 2100, 7}};
  std::uint64_t seed = 100;
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const auto& [m, k, n] : sizes) {
      for (const int how : {0, 1}) {
        KernelCheck check(++seed);
        Matmul work{.a = laid_out(check, dtype, m, k, 1 - how),
                    .b = laid_out(check, dtype, k, n, how)};
        work.out = check.whole(check.add_output(how == 1 ? DType::kF32 : dtype, {m, n}));
        check.kernel.work = work;
        check.expect_equal(0, bound_of_sums(DType::kF32, dtype, k),
                           std::string(name_of(dtype)) + " " + std::to_string(m) + " layout " +
                               std::to_string(how));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(CpuMatmulTest, BatchesThatRepeatAndAnEpilogue) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const auto& [m, k, n] : {Sizes{1, 33, 70}, Sizes{7, 20, 9}, Sizes{40, 64, 1500},
                                  Sizes{3, 5, 20000}, Sizes{1500, 64, 5}, Sizes{20000, 40, 3}}) {
      KernelCheck check(static_cast<std::uint64_t>(m));
      const auto a = check.add(dtype, {3, m, k}), b = check.add(dtype, {2, n, k});
      const auto bias = check.add(DType::kF32, {n}), out = check.add_output(dtype, {2, 3, n, m});
      const auto scale = check.add(DType::kF32, {3, m});
      // [2, 3, m, k] · [2, 3, k, n]; each repeats along an axis; what comes out is transposed.
      Matmul work{.a = {a, View{{2, 3, m, k}, {0, m * k, k, 1}, 0}},
                  .b = {b, View{{2, 3, k, n}, {n * k, 0, 1, k}, 0}}};
      using V = Region::Value;
      Region region{.shape = {2, 3, m, n}};
      region.values = {
          V{.op = Op::kInput},
          V{.op = Op::kInput, .access = {bias, View{{2, 3, m, n}, {0, 0, 0, 1}, 0}}},
          V{.op = Op::kInput, .of_row = true, .access = {scale, View{{2, 3, m}, {0, m, 1}, 0}}},
          V{.op = Op::kAdd, .values = {0, 1}},
          V{.op = Op::kMul, .values = {3, 2}},
          V{.op = Op::kCast, .dtype = dtype, .values = {4}}};
      region.stores = {{5, {out, View::contiguous({2, 3, n, m}).permute({0, 1, 3, 2})}}};
      work.epilogue = region;
      work.out = {out, View::contiguous({2, 3, n, m}).permute({0, 1, 3, 2})};
      check.kernel.work = work;
      check.expect_equal(0, 8 * bound_of_sums(DType::kF32, dtype, k), std::string(name_of(dtype)));
    }
  }
}

TEST_P(CpuMatmulTest, EveryRowByItsExpert) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF64}) {
    for (const std::int64_t rows : {0, 1, 2, 13, 80}) {
      for (const bool transposed : {false, true}) {
        KernelCheck check(static_cast<std::uint64_t>(rows));
        const std::int64_t k = 37, n = 50;
        const auto a = check.add(dtype, {rows, k});
        const auto w = check.add(dtype, transposed ? std::vector<std::int64_t>{5, n, k}
                                                   : std::vector<std::int64_t>{5, k, n});
        auto view = View::contiguous(check.kernel.operands[w].shape);
        if (transposed) view = view.permute({0, 2, 1});
        const auto expert = check.add(DType::kI64, {rows});
        for (std::int64_t t = 0; t < rows; ++t)
          check.set(expert, t, static_cast<double>(check.below(8) - 1));
        const auto out = check.add_output(dtype, {rows, n});
        GroupedMatmul work{check.whole(a), {w, view}, check.whole(expert), check.whole(out)};
        work.accumulate = dtype == DType::kF64 ? dtype : DType::kF32;
        check.kernel.work = work;
        check.expect_equal(0, bound_of_sums(work.accumulate, dtype, k),
                           std::string(name_of(dtype)));
      }
    }
  }
}

ASSAY_ON_INSTRUCTION_SETS(CpuMatmulTest);

}  // namespace
}  // namespace assay::compiler
