// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "compiler/cpu/test_product.h"
#include "kernels/bf16/test_trapped_units.h"

namespace assay::compiler {
namespace {

// Products of bf16 on each unit, or on plain loops in its place.
class CpuPairProductTest : public testing::TestWithParam<const kernels::PairUnit*> {
 protected:
  CpuPairProductTest() : only_(GetParam()) {}
  void SetUp() override {
    const auto reason = kernels::why_not_even_trapped(*GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  // By signals, instruction for instruction.
  static bool is_trapped() { return !kernels::why_not(*GetParam()).empty(); }
  // What is tested is the unit, and no other form of a product.
  static void expect_equal(KernelCheck& check, double bound, const std::string& what) {
    check.kernel.variant = 0;
    ASSERT_EQ(prepare_cpu_kernel(check.kernel)->unit({}), GetParam()->name) << what;
    check.expect_equal(0, bound, what);
  }

 private:
  kernels::TrappedUnits trapped_;
  kernels::OnlyPairUnit only_;
};

using Sizes = std::array<std::int64_t, 3>;
std::string text_of(const Sizes& sizes, int how) {
  return std::to_string(sizes[0]) + " " + std::to_string(sizes[1]) + " " +
         std::to_string(sizes[2]) + " layout " + std::to_string(how);
}

TEST_P(CpuPairProductTest, AllLayouts) {
  const Sizes sizes[] = {{5, 50, 37},  {9, 1, 9},    {9, 2, 17},   {11, 3, 13}, {13, 31, 8},
                         {16, 32, 16}, {31, 33, 32}, {33, 64, 31}, {32, 65, 33}};
  std::uint64_t seed = 0;
  for (const auto& size : sizes) {
    const auto& [m, k, n] = size;
    if (m <= GetParam()->few) continue;  // not a product for it
    for (int how = 0; how < 9; ++how) {
      KernelCheck check(++seed);
      const DType out = how % 2 == 0 ? DType::kF32 : DType::kBF16;
      Matmul work{.a = laid_out(check, DType::kBF16, m, k, how / 3),
                  .b = laid_out(check, DType::kBF16, k, n, how % 3)};
      work.out = check.whole(check.add_output(out, {m, n}));
      check.kernel.work = work;
      expect_equal(check, bound_of_sums(DType::kF32, out, k), text_of(size, how));
      if (HasFailure()) return;
    }
  }
}

// More terms, rows and columns than are taken at once.
TEST_P(CpuPairProductTest, SeveralBlocks) {
  std::uint64_t seed = 100;
  const std::vector<Sizes> all = {{33, 1031, 19}, {70, 33, 101}, {9, 515, 600}};
  const std::vector<Sizes> few = {{33, 531, 35}};
  for (const auto& size : is_trapped() ? few : all) {
    const auto& [m, k, n] = size;
    for (const int how : {0, 1}) {
      KernelCheck check(++seed);
      Matmul work{.a = laid_out(check, DType::kBF16, m, k, 1 - how),
                  .b = laid_out(check, DType::kBF16, k, n, how)};
      work.out = check.whole(check.add_output(DType::kF32, {m, n}));
      check.kernel.work = work;
      expect_equal(check, bound_of_sums(DType::kF32, DType::kF32, k), text_of(size, how));
      if (HasFailure()) return;
    }
  }
}

// Also what is less than normal in bf16, which units take for 0: beside an infinity, where that
// would be NaN, and beside a large number, where much would be lost.
TEST_P(CpuPairProductTest, WhatIsNotFiniteAndWhatIsLessThanNormal) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::int64_t m = 20, k = 50, n = 40;
  for (const int how : {0, 1}) {  // b as [k, n] or as [n, k]
    for (const bool swapped : {false, true}) {
      KernelCheck check(7);
      Matmul work{.a = laid_out(check, DType::kBF16, m, k, 0),
                  .b = laid_out(check, DType::kBF16, k, n, how)};
      const auto set_a = [&](std::int64_t i, std::int64_t l, double value) {
        check.set(work.a.operand, i * k + l, value);
      };
      const auto set_b = [&](std::int64_t l, std::int64_t j, double value) {
        check.set(work.b.operand, how == 0 ? l * n + j : j * k + l, value);
      };
      set_a(0, 7, kInf);
      set_b(8, 3, std::nan(""));
      set_b(9, 5, -kInf);
      set_b(7, 6, 0);  // ∞ · 0
      const double less = 0x1p-130;
      if (swapped) {
        set_a(2, 11, less);
        set_b(11, 7, kInf);
        set_b(11, 8, 0x1p127);
      } else {
        set_b(11, 7, less);
        set_a(2, 11, kInf);
        set_a(3, 11, 0x1p127);
        set_b(12, 8, -less);
        set_a(4, 12, 0x1p127);
      }
      // Large ones meet small ones alone, or sums would have no bound.
      for (std::int64_t j = 0; j < n; ++j) {
        if (!swapped && j != 7) set_b(11, j, 0);
        if (!swapped && j != 8) set_b(12, j, 0);
      }
      for (std::int64_t i = 0; i < m; ++i) {
        if (swapped && i != 2) set_a(i, 11, 0);
      }
      work.out = check.whole(check.add_output(DType::kF32, {m, n}));
      check.kernel.work = work;
      expect_equal(check, bound_of_sums(DType::kF32, DType::kF32, k),
                   "layout " + std::to_string(how) + (swapped ? " swapped" : ""));
    }
  }
}

TEST_P(CpuPairProductTest, AnEpilogueThatIsTransposed) {
  for (const auto& [m, k, n] : {Sizes{17, 20, 19}, Sizes{40, 64, 130}}) {
    for (const bool transposed : {false, true}) {
      KernelCheck check(static_cast<std::uint64_t>(m));
      Matmul work{.a = laid_out(check, DType::kBF16, m, k, 0),
                  .b = laid_out(check, DType::kBF16, k, n, transposed ? 1 : 0)};
      const auto bias = check.add(DType::kF32, {n});
      const auto out = check.add_output(DType::kBF16, {n, m});
      using V = Region::Value;
      Region region{.shape = {m, n}};
      region.values = {V{.op = Op::kInput},
                       V{.op = Op::kInput, .access = {bias, View{{m, n}, {0, 1}, 0}}},
                       V{.op = Op::kAdd, .values = {0, 1}},
                       V{.op = Op::kCast, .dtype = DType::kBF16, .values = {2}}};
      region.stores = {{3, {out, View::contiguous({n, m}).permute({1, 0})}}};
      work.epilogue = region;
      work.out = region.stores[0].to;
      check.kernel.work = work;
      expect_equal(check, 2 * bound_of_sums(DType::kF32, DType::kBF16, k), std::to_string(m));
    }
  }
}

TEST_P(CpuPairProductTest, RowsOfExperts) {
  for (const bool transposed : {false, true}) {
    KernelCheck check(3);
    const std::int64_t rows = 90, k = 37, n = 50;
    const auto a = check.add(DType::kBF16, {rows, k});
    const auto w = check.add(DType::kBF16, transposed ? std::vector<std::int64_t>{3, n, k}
                                                      : std::vector<std::int64_t>{3, k, n});
    auto view = View::contiguous(check.kernel.operands[w].shape);
    if (transposed) view = view.permute({0, 2, 1});
    const auto expert = check.add(DType::kI64, {rows});
    for (std::int64_t t = 0; t < rows; ++t)
      check.set(expert, t, static_cast<double>(check.below(3)));
    const auto out = check.add_output(DType::kF32, {rows, n});
    check.kernel.work =
        GroupedMatmul{check.whole(a), {w, view}, check.whole(expert), check.whole(out)};
    check.expect_equal(0, bound_of_sums(DType::kF32, DType::kF32, k), "experts");
  }
}

INSTANTIATE_TEST_SUITE_P(, CpuPairProductTest, testing::ValuesIn(kernels::pair_units()),
                         [](const auto& param) {
                           std::string name(param.param->name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace assay::compiler
