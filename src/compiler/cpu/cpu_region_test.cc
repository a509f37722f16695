// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "compiler/cpu/test_kernel.h"
#include "kernels/test_instruction_sets.h"

namespace assay::compiler {
namespace {

constexpr DType kAllDTypes[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16,
                                DType::kI32, DType::kI64, DType::kBool};

class CpuRegionTest : public kernels::OnInstructionSet {};

// Regions of primitives that have one right answer, over views of every kind.
class RandomRegion {
 public:
  explicit RandomRegion(std::uint64_t seed) : check(seed) {
    draw_shape();
    const auto leaves = 1 + check.below(3);
    for (std::int64_t i = 0; i < leaves; ++i) add_leaf(kAllDTypes[check.below(7)], false);
    const auto count = 2 + check.below(12);
    for (std::int64_t i = 0; i < count; ++i) add_value();
    // The last values and one of any other.
    store(region.values.size() - 1);
    store(static_cast<std::size_t>(check.below(static_cast<std::int64_t>(region.values.size()))));
    check.kernel.work = region;
  }

  KernelCheck check;
  Region region;

 private:
  using V = Region::Value;

  void draw_shape() {
    const std::int64_t rows[] = {0, 1, 2, 3, 5, 7, 17, 40, 150},
                       columns[] = {0, 1, 2, 3, 5, 16, 31, 129, 1023, 1024, 1025, 2500};
    const auto rank = 1 + check.below(4);
    for (std::int64_t axis = 0; axis + 1 < rank; ++axis) {
      shape.push_back(rows[check.below(rank > 3 ? 5 : rank > 2 ? 7 : 9)]);
    }
    shape.push_back(columns[check.below(rank > 3 ? 7 : 12)]);
    region.shape.assign(shape.begin(), shape.end());
  }

  // A view of `extents`, of an operand made for it.
  Access view_of(DType dtype, const std::vector<std::int64_t>& extents, bool is_output) {
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), 0);
    if (check.below(3) == 0) {
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1],
                  order[static_cast<std::size_t>(check.below(static_cast<std::int64_t>(i)))]);
    }
    // Operand axis a is axis order[a] of the view; some are stretched, some have gaps.
    std::vector<std::int64_t> own;
    std::vector<int> kind;
    for (const auto axis : order) {
      kind.push_back(check.below(4) == 0 ? static_cast<int>(1 + check.below(3)) : 0);
      if (is_output && kind.back() == 1) kind.back() = 0;
      own.push_back(kind.back() == 1 ? 1 : kind.back() == 2 ? extents[axis] * 2 : extents[axis]);
    }
    const auto operand = is_output ? check.add_output(dtype, own)
                                   : check.add(dtype, own, KernelCheck::Values::kSpecial);
    View view = View::contiguous({own.begin(), own.end()});
    std::vector<std::size_t> back(order.size());
    for (std::size_t a = 0; a < order.size(); ++a) {
      back[order[a]] = a;
      if (kind[a] == 1) view = view.expand(a, extents[order[a]]);
      if (kind[a] == 2) view = view.slice(a, 0, own[a], 2);
      if (kind[a] == 3) view = view.reverse(a);
    }
    return {operand, view.permute(back)};
  }
  std::vector<std::int64_t> extents_of(bool of_row) const {
    auto extents = shape;
    if (of_row) extents.pop_back();
    return extents;
  }

  std::uint32_t add(V value) {
    region.values.push_back(std::move(value));
    return static_cast<std::uint32_t>(region.values.size() - 1);
  }
  std::uint32_t add_leaf(DType dtype, bool of_row) {
    return add({.op = Op::kInput,
                .dtype = dtype,
                .of_row = of_row,
                .access = view_of(dtype, extents_of(of_row), false)});
  }
  // A value of a dtype, drawn from those there are, or made.
  std::uint32_t operand(DType dtype, bool must_be_of_row) {
    std::vector<std::uint32_t> fitting;
    for (std::uint32_t i = 0; i < region.values.size(); ++i) {
      if (region.values[i].dtype == dtype && (region.values[i].of_row || !must_be_of_row))
        fitting.push_back(i);
    }
    if (!fitting.empty() && check.below(8) != 0)
      return fitting[static_cast<std::size_t>(
          check.below(static_cast<std::int64_t>(fitting.size())))];
    if (check.below(3) == 0)
      return add({.op = Op::kConst,
                  .dtype = dtype,
                  .of_row = must_be_of_row,
                  .bits = bits_of(dtype, static_cast<double>(check.below(7)) - 3)});
    return add_leaf(dtype, must_be_of_row || check.below(6) == 0);
  }

  void add_value() {
    const DType dtype = region
                            .values[static_cast<std::size_t>(
                                check.below(static_cast<std::int64_t>(region.values.size())))]
                            .dtype;
    const bool of_row = check.below(4) == 0;
    const auto of = [&](DType d) { return operand(d, of_row); };
    const bool is_number = dtype == DType::kI32 || dtype == DType::kI64;
    switch (check.below(12)) {
      case 0:
      case 1: {
        const auto a = of(dtype), b = of(dtype);
        add({.op = Op::kAdd, .dtype = dtype, .of_row = of_row, .values = {a, b}});
        return;
      }
      case 2: {
        const auto a = of(dtype), b = of(dtype);
        add({.op = Op::kMul, .dtype = dtype, .of_row = of_row, .values = {a, b}});
        return;
      }
      case 3: {
        const auto a = of(dtype), b = of(dtype);
        add({.op = Op::kMax, .dtype = dtype, .of_row = of_row, .values = {a, b}});
        return;
      }
      case 4: {
        const auto a = of(dtype), b = of(dtype);
        add({.op = Op::kLess, .dtype = DType::kBool, .of_row = of_row, .values = {a, b}});
        return;
      }
      case 5: {
        const auto c = of(DType::kBool), a = of(dtype), b = of(dtype);
        add({.op = Op::kSelect, .dtype = dtype, .of_row = of_row, .values = {c, a, b}});
        return;
      }
      case 6: {
        if (dtype == DType::kBool) return;
        const auto a = of(dtype), b = of(dtype);
        add({.op = Op::kMod, .dtype = dtype, .of_row = of_row, .values = {a, b}});
        return;
      }
      case 7: {
        const auto a = of(dtype);
        add({.op = Op::kCast,
             .dtype = kAllDTypes[check.below(7)],
             .of_row = of_row,
             .values = {a}});
        return;
      }
      case 8: {
        if (!is_floating(dtype)) return;
        const auto a = of(dtype);
        const auto kind = check.below(3);
        if (kind == 0) {
          const auto b = of(dtype);
          add({.op = Op::kDiv, .dtype = dtype, .of_row = of_row, .values = {a, b}});
          return;
        }
        add({.op = kind == 1 ? Op::kSqrt : Op::kRecip,
             .dtype = dtype,
             .of_row = of_row,
             .values = {a}});
        return;
      }
      case 9: {
        const auto a = operand(dtype, false);
        const bool is_sum = shape.back() == 0 || (!is_floating(dtype) && check.below(2) == 0);
        add({.op = is_sum ? Op::kSum : Op::kMaxReduce,
             .dtype = dtype,
             .of_row = true,
             .values = {a}});
        return;
      }
      case 10: {
        if (!is_number) return;
        const auto index = of(dtype);
        const auto from = kAllDTypes[check.below(7)];
        add({.op = Op::kGather,
             .dtype = from,
             .of_row = of_row,
             .values = {index},
             .access = view_of(from, {3, 5}, false)});
        return;
      }
      default: {
        const auto extents = extents_of(of_row);
        View view;
        view.offset = check.below(9) - 4;
        for (const auto extent : extents) {
          view.shape.emplace_back(extent);
          view.strides.emplace_back(check.below(5) - 1);
        }
        add({.op = Op::kIota,
             .dtype = check.below(2) == 0 ? DType::kI32 : DType::kI64,
             .of_row = of_row,
             .access = {0, view}});
        return;
      }
    }
  }

  void store(std::size_t value) {
    const auto& what = region.values[value];
    region.stores.push_back(
        {static_cast<std::uint32_t>(value), view_of(what.dtype, extents_of(what.of_row), true)});
  }

  std::vector<std::int64_t> shape;
};

TEST_P(CpuRegionTest, WhatHasOneAnswerIsThatToTheBit) {
  for (std::uint64_t seed = 0; seed < 500 && !HasFailure(); ++seed) {
    RandomRegion random(seed);
    random.check.expect_equal(0, 0, "seed " + std::to_string(seed));
  }
}

// x·2^(−max) and the like: a softmax, its logarithm and a sine, of rows that lie row by row or
// column by column.
class RowsCase {
 public:
  RowsCase(DType dtype, std::int64_t rows, std::int64_t length, bool is_turned)
      : check(static_cast<std::uint64_t>(rows * 10000 + length)) {
    const auto laid_out = [&](std::uint32_t operand) {
      if (!is_turned) return check.whole(operand);
      return Access{operand, View::contiguous({length, rows}).permute({1, 0})};
    };
    const auto shape = is_turned ? std::vector<std::int64_t>{length, rows}
                                 : std::vector<std::int64_t>{rows, length};
    const auto x = check.add(dtype, shape);
    const auto y = check.add_output(dtype, shape);
    const auto sums = check.add_output(dtype, {rows});
    using V = Region::Value;
    Region region{.shape = {rows, length}};
    region.values = {V{.op = Op::kInput, .dtype = dtype, .access = laid_out(x)},
                     V{.op = Op::kMaxReduce, .dtype = dtype, .of_row = true, .values = {0}},
                     V{.op = Op::kConst, .dtype = dtype, .bits = bits_of(dtype, -1)},
                     V{.op = Op::kMul, .dtype = dtype, .of_row = true, .values = {1, 2}},
                     V{.op = Op::kAdd, .dtype = dtype, .values = {0, 3}},
                     V{.op = Op::kExp2, .dtype = dtype, .values = {4}},
                     V{.op = Op::kSum, .dtype = dtype, .of_row = true, .values = {5}},
                     V{.op = Op::kRecip, .dtype = dtype, .of_row = true, .values = {6}},
                     V{.op = Op::kMul, .dtype = dtype, .values = {5, 7}},
                     V{.op = Op::kLog2, .dtype = dtype, .of_row = true, .values = {6}},
                     V{.op = Op::kSin, .dtype = dtype, .values = {8}},
                     V{.op = Op::kAdd, .dtype = dtype, .values = {10, 9}}};
    region.values[2].of_row = true;
    region.stores = {{11, laid_out(y)}, {6, check.whole(sums)}};
    check.kernel.work = region;
  }

  // Every value is rounded, exp2 and sums a little more; a dozen of them meet in a result. The
  // plain sum of f64 is no better than ours.
  void expect_equal(DType dtype, std::int64_t length, const std::string& what) {
    const double n = dtype == DType::kF64 ? static_cast<double>(length) : 0;
    const double u = unit_roundoff(dtype) * (dtype == DType::kF32 ? 4 : 2);
    check.expect_equal((12 + n) * u, (12 + n) * u, what);
  }

  KernelCheck check;
};

TEST_P(CpuRegionTest, RowsAreReducedInOneVisit) {
  for (const bool is_turned : {false, true}) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
      for (const std::int64_t length : {1, 2, 3, 8, 63, 64, 511, 1024, 1025, 5000}) {
        for (const std::int64_t rows : {1, 3, 70, 300}) {
          if (rows * length > 400000) continue;
          RowsCase(dtype, rows, length, is_turned)
              .expect_equal(dtype, length,
                            std::string(name_of(dtype)) + " " + std::to_string(rows) + " of " +
                                std::to_string(length) + (is_turned ? " turned" : ""));
        }
      }
    }
  }
}

// Every 40 009th float, against f64.
TEST_P(CpuRegionTest, ExponentialLogarithmAndSineWithinTwoUlp) {
  std::vector<float> x, y;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 40009)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  x.push_back(-0.0F);
  y.resize(x.size());
  const auto count = static_cast<std::int64_t>(x.size());
  using Function = double (*)(double);
  const std::pair<Op, Function> functions[] = {
      {Op::kExp2, std::exp2}, {Op::kLog2, std::log2}, {Op::kSin, std::sin}};
  for (const auto& [op, function] : functions) {
    Kernel kernel;
    kernel.operands = {{DType::kF32, {count}, false}, {DType::kF32, {count}, true}};
    const auto whole = View::contiguous({count});
    Region region{.shape = {count}};
    region.values = {{.op = Op::kInput, .access = {0, whole}}, {.op = op, .values = {0}}};
    region.stores = {{1, {1, whole}}};
    kernel.work = region;
    std::byte* const operands[] = {reinterpret_cast<std::byte*>(x.data()),
                                   reinterpret_cast<std::byte*>(y.data())};
    prepare_cpu_kernel(kernel)->run({}, operands, 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = function(static_cast<double>(x[i]));
      const auto nearest = static_cast<float>(want);
      if (!std::isfinite(nearest)) {
        ASSERT_TRUE(std::isnan(nearest) ? std::isnan(y[i]) : y[i] == nearest)
            << name_of(op) << " of " << x[i] << " is " << y[i];
        continue;
      }
      const double ulp = std::ldexp(1.0, std::max(std::ilogb(want), -126) - 23);
      ASSERT_LE(std::abs(y[i] - want), 2 * ulp) << name_of(op) << " of " << x[i];
      ASSERT_TRUE(want != 0 || std::signbit(y[i]) == std::signbit(want)) << name_of(op);
    }
  }
}

// Roots and reciprocals are the nearest; other functions may be off by a hundredth of a unit before
// they are rounded. In blocks and beyond the last, near arguments and far ones side by side.
TEST_P(CpuRegionTest, FunctionsOfEveryBFloat) {
  std::vector<BFloat16> x(1 << 16), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = BFloat16::from_bits(static_cast<std::uint16_t>(i));
  const auto count = static_cast<std::int64_t>(x.size()) - 1;  // All but one NaN: no whole blocks.
  using Function = double (*)(double);
  const std::pair<Op, Function> functions[] = {{Op::kExp2, std::exp2},
                                               {Op::kLog2, std::log2},
                                               {Op::kSin, std::sin},
                                               {Op::kSqrt, std::sqrt},
                                               {Op::kRecip, [](double v) { return 1 / v; }}};
  for (const auto& [op, function] : functions) {
    Kernel kernel;
    kernel.operands = {{DType::kBF16, {count}, false}, {DType::kBF16, {count}, true}};
    const auto whole = View::contiguous({count});
    Region region{.shape = {count}};
    region.values = {{.op = Op::kInput, .dtype = DType::kBF16, .access = {0, whole}},
                     {.op = op, .dtype = DType::kBF16, .values = {0}}};
    region.stores = {{1, {1, whole}}};
    kernel.work = region;
    std::byte* const operands[] = {reinterpret_cast<std::byte*>(x.data()),
                                   reinterpret_cast<std::byte*>(y.data())};
    prepare_cpu_kernel(kernel)->run({}, operands, 1);
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
      const double want = function(static_cast<double>(x[i]));
      const BFloat16 nearest(static_cast<float>(want));
      const double got = static_cast<double>(y[i]), is = static_cast<double>(nearest);
      if (std::isnan(is)) {
        ASSERT_TRUE(std::isnan(got)) << name_of(op) << " of " << static_cast<double>(x[i]);
        continue;
      }
      const double ulp = std::ldexp(1.0, std::max(std::ilogb(want), -126) - 7);
      const bool is_near = std::isfinite(is) && std::abs(got - want) <= 0.51 * ulp;
      const bool may_be_off = op != Op::kSqrt && op != Op::kRecip;
      const bool has_its_sign = std::signbit(got) == std::signbit(is);
      ASSERT_TRUE(has_its_sign && (got == is || (may_be_off && is_near)))
          << name_of(op) << " of " << static_cast<double>(x[i]) << " is " << got << ", not " << is;
    }
  }
}

ASSAY_ON_INSTRUCTION_SETS(CpuRegionTest);

}  // namespace
}  // namespace assay::compiler
