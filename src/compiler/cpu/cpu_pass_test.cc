// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>

#include "compiler/cpu/test_kernel.h"
#include "kernels/test_instruction_sets.h"
#include "kernels/tiles/caches.h"

namespace assay::compiler {
namespace {

class CpuPassTest : public kernels::OnInstructionSet {};

// Regions that are one pass, or nearly: primitives on 32-bit lanes and 16-bit types in long chains,
// whose operands are streams, single elements, values of a row and earlier values, some of them
// stored on the way; every length about a block and a tile.
class RandomPass {
 public:
  explicit RandomPass(std::uint64_t seed, std::int64_t length)
      : check(seed), length_(length), has_reciprocals_(check.below(2) == 0) {
    const DType family[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kBool};
    // Half of them of one dtype, as most are; bf16 alone goes in pairs.
    const bool is_plain = check.below(2) == 0;
    const DType only = family[check.below(5)];
    const auto dtype = [&] { return is_plain ? only : family[check.below(5)]; };
    region.shape = {2, length_};
    for (int i = 0; i < 3; ++i) add_leaf(dtype());
    const auto count = 1 + check.below(24);
    for (std::int64_t i = 0; i < count; ++i) add_value(dtype());
    for (std::uint32_t i = 3; i < region.values.size(); ++i) {
      if (i + 1 == region.values.size() || check.below(8) == 0) store(i);
    }
    check.kernel.work = region;
  }

  KernelCheck check;
  Region region;

 private:
  using V = Region::Value;

  std::uint32_t add(V value) {
    region.values.push_back(std::move(value));
    return static_cast<std::uint32_t>(region.values.size() - 1);
  }
  // Some begin anywhere, so that nothing is aligned; some are one element for a row, or for all.
  std::uint32_t add_leaf(DType dtype) {
    const auto shift = check.below(3);
    const auto operand = check.add(dtype, {2 * length_ + shift + 1}, KernelCheck::Values::kSpecial);
    const std::int64_t kind = check.below(6);
    const View view{{2, length_},
                    {kind == 0   ? 0
                     : kind == 1 ? 1
                                 : length_,
                     kind <= 1 ? 0 : 1},
                    shift};
    return add({.op = Op::kInput, .dtype = dtype, .access = {operand, view}});
  }
  std::uint32_t operand(DType dtype) {
    std::vector<std::uint32_t> fitting;
    for (std::uint32_t i = 0; i < region.values.size(); ++i)
      if (region.values[i].dtype == dtype) fitting.push_back(i);
    const auto kind = check.below(10);
    if (kind == 0)
      return add({.op = Op::kConst,
                  .dtype = dtype,
                  .bits = bits_of(dtype, static_cast<double>(check.below(7)) - 3)});
    if (fitting.empty() || kind == 1) return add_leaf(dtype);
    // Mostly the newest.
    return check.below(2) == 0 ? fitting.back()
                               : fitting[static_cast<std::size_t>(
                                     check.below(static_cast<std::int64_t>(fitting.size())))];
  }
  void add_value(DType dtype) {
    // Which zero is the greater is the processor's business: a quotient would show it.
    const bool divides = has_reciprocals_ && is_floating(dtype);
    const Op binary[] = {Op::kAdd, Op::kMul,
                         divides            ? Op::kDiv
                         : has_reciprocals_ ? Op::kMul
                                            : Op::kMax};
    const auto kind = check.below(10);
    if (kind < 6) {
      const auto a = operand(dtype), b = operand(dtype);
      add({.op = binary[kind % 3], .dtype = dtype, .values = {a, b}});
    } else if (kind == 6) {
      const auto a = operand(dtype), b = operand(dtype);
      const auto less = add({.op = Op::kLess, .dtype = DType::kBool, .values = {a, b}});
      const auto yes = operand(dtype), no = operand(dtype);
      add({.op = Op::kSelect, .dtype = dtype, .values = {less, yes, no}});
    } else if (kind == 7 && is_floating(dtype)) {
      const auto a = operand(dtype);
      add({.op = has_reciprocals_ ? Op::kRecip : Op::kSqrt, .dtype = dtype, .values = {a}});
    } else {
      add({.op = Op::kCast,
           .dtype = dtype,
           .values = {static_cast<std::uint32_t>(region.values.size() - 1)}});
    }
  }
  void store(std::uint32_t value) {
    const auto shift = check.below(3);
    const auto out = check.add_output(region.values[value].dtype, {2 * length_ + shift});
    region.stores.push_back({value, {out, View{{2, length_}, {length_, 1}, shift}}});
  }

  const std::int64_t length_;
  const bool has_reciprocals_;
};

TEST_P(CpuPassTest, PassesRoundEveryValueAsPlainLoopsDo) {
  for (std::int64_t length = 1; length <= 130 && !HasFailure(); ++length) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      RandomPass random(static_cast<std::uint64_t>(length) * 100 + seed, length);
      random.check.expect_equal(
          0, 0, "length " + std::to_string(length) + ", seed " + std::to_string(seed));
    }
  }
  for (const std::int64_t length : {255, 257, 1023, 1024, 1153, 5000}) {
    for (std::uint64_t seed = 0; seed < 20 && !HasFailure(); ++seed) {
      RandomPass random(static_cast<std::uint64_t>(length) * 1000 + seed, length);
      random.check.expect_equal(
          0, 0, "length " + std::to_string(length) + ", seed " + std::to_string(seed));
    }
  }
}

// A stream by a stream, by one element for each row and by one for all, and those by a stream; in
// blocks and beyond the last: what plain loops say, which divide in f64.
TEST_P(CpuPassTest, QuotientsAreTheNearestWhereverTheirOperandsAre) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    for (const std::int64_t length : {1, 15, 64, 517}) {
      for (int way = 0; way < 6; ++way) {
        KernelCheck check(static_cast<std::uint64_t>(length * 6 + way));
        const auto stream = check.add(dtype, {3, length}, KernelCheck::Values::kSpecial);
        const auto other = check.add(dtype, {3, length}, KernelCheck::Values::kWide);
        const auto out = check.add_output(dtype, {3, length});
        auto from = check.whole(other);
        if (way % 3 > 0) from.view.strides[1] = 0;
        if (way % 3 > 1) from.view.strides[0] = 0;
        const bool is_turned = way >= 3;
        Region region{.shape = {3, length}};
        region.values = {
            {.op = Op::kInput, .dtype = dtype, .access = check.whole(stream)},
            {.op = Op::kInput, .dtype = dtype, .access = from},
            {.op = Op::kDiv, .dtype = dtype, .values = {is_turned ? 1U : 0U, is_turned ? 0U : 1U}},
            // And with what is in hand on either side.
            {.op = Op::kDiv, .dtype = dtype, .values = {1, 2}},
            {.op = Op::kDiv, .dtype = dtype, .values = {3, 0}}};
        region.stores = {{4, check.whole(out)}};
        check.kernel.work = region;
        check.expect_equal(0, 0,
                           std::string(name_of(dtype)) + ", length " + std::to_string(length) +
                               ", way " + std::to_string(way));
      }
    }
  }
}

// Larger than the caches: written past them, asked for ahead, from addresses that are not aligned,
// by several threads. Too large for the plain loops: each element is known beforehand.
TEST_P(CpuPassTest, WhatIsFarLargerThanTheCachesIsWrittenWhole) {
  const std::int64_t bytes = 2 * kernels::read_cache_sizes().last + (1 << 20);
  if (bytes > std::int64_t{1} << 28) GTEST_SKIP() << "caches of " << bytes / 2 << " bytes";
  for (const std::size_t shift : {0, 1}) {
    const std::int64_t count = bytes / 8 + 77;
    Kernel kernel;
    kernel.operands = {{DType::kF32, {count}, false}, {DType::kF32, {count}, true}};
    const auto whole = View::contiguous({count});
    Region region{.shape = {count}};
    region.values = {{.op = Op::kInput, .access = {0, whole}},
                     {.op = Op::kAdd, .values = {0, 0}},
                     {.op = Op::kMul, .values = {1, 0}}};
    region.stores = {{2, {1, whole}}};
    kernel.work = region;
    std::vector<float> x(static_cast<std::size_t>(count) + shift), y(x.size() + 1, -1.0f);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1021);
    std::byte* const operands[] = {reinterpret_cast<std::byte*>(x.data() + shift),
                                   reinterpret_cast<std::byte*>(y.data() + shift)};
    prepare_cpu_kernel(kernel)->run({}, operands, 3);
    std::size_t wrong = 0;
    for (std::size_t i = shift; i < x.size(); ++i) wrong += y[i] != 2 * x[i] * x[i];
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(y.back(), -1.0f);
    EXPECT_EQ(shift == 0 ? -1.0f : y[0], -1.0f);
  }
}

ASSAY_ON_INSTRUCTION_SETS(CpuPassTest);

}  // namespace
}  // namespace assay::compiler
