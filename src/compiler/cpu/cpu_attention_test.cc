// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "compiler/cpu/test_kernel.h"
#include "kernels/test_instruction_sets.h"

namespace assay::compiler {
namespace {

class CpuAttentionTest : public kernels::OnInstructionSet {};

enum class MaskKind { kNone, kBool, kAdded };

// [2, group, s, d] against keys that the group shares.
void expect_attention(DType dtype, std::int64_t s, std::int64_t t, std::int64_t group, bool causal,
                      std::int64_t window, MaskKind mask) {
  const std::int64_t d = 17, e = 19;
  KernelCheck check(static_cast<std::uint64_t>(s * 1000 + t));
  const auto q = check.add(dtype, {2, group, s, d});
  const auto k = check.add(dtype, {t, 2, d}), v = check.add(dtype, {2, t, e});
  const auto out = check.add_output(dtype, {2, s, group, e});
  Attention work{.q = check.whole(q),
                 .k = {k, View{{2, group, t, d}, {d, 0, 2 * d, 1}, 0}},
                 .v = {v, View{{2, group, t, e}, {t * e, 0, e, 1}, 0}},
                 .out = {out, View::contiguous({2, s, group, e}).permute({0, 2, 1, 3})},
                 .scale = 0.25};
  work.causal = causal;
  work.offset = Dim::symbol("p");
  check.symbols["p"] = t - s;
  if (window > 0) work.window = window;
  if (mask == MaskKind::kBool) {
    const auto seen = check.add(DType::kBool, {s, t});
    work.mask = Access{seen, View{{2, group, s, t}, {0, 0, t, 1}, 0}};
  } else if (mask == MaskKind::kAdded) {
    const auto added = check.add(dtype, {s, t});
    for (std::int64_t i = 0; i < s * t; i += 3)
      check.set(added, i, -std::numeric_limits<double>::infinity());
    work.mask = Access{added, View{{2, group, s, t}, {0, 0, t, 1}, 0}};
  }
  check.kernel.work = work;
  // Scores up to 17·16/4 + 4 are wrong by that many roundings of f32 (f64), results by theirs.
  const double u = unit_roundoff(dtype == DType::kF64 ? DType::kF64 : DType::kF32);
  const double bound =
      4 * (2 * 72 * (d + 2) * u + (static_cast<double>(t) + 8) * u + 2 * unit_roundoff(dtype));
  check.expect_equal(0, bound,
                     std::string(name_of(dtype)) + " s " + std::to_string(s) + " t " +
                         std::to_string(t) + " group " + std::to_string(group) + " causal " +
                         std::to_string(causal) + " window " + std::to_string(window));
}

TEST_P(CpuAttentionTest, SeesWhatItMay) {
  using Lengths = std::array<std::int64_t, 2>;
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kF64}) {
    for (const auto& [s, t] : {Lengths{1, 1}, Lengths{1, 257}, Lengths{3, 3}, Lengths{65, 70},
                               Lengths{5, 600}, Lengths{0, 4}, Lengths{33, 20}}) {
      for (const std::int64_t group : {1, 3}) {
        for (const auto mask : {MaskKind::kNone, MaskKind::kBool, MaskKind::kAdded}) {
          expect_attention(dtype, s, t, group, false, 0, mask);
          expect_attention(dtype, s, t, group, true, 0, mask);
          expect_attention(dtype, s, t, group, true, 4, mask);
          if (HasFailure()) return;
        }
      }
    }
  }
  // Keys in parts.
  expect_attention(DType::kF32, 1, 2500, 4, true, 0, MaskKind::kNone);
  expect_attention(DType::kBF16, 2, 1030, 1, true, 700, MaskKind::kNone);
}

TEST_P(CpuAttentionTest, WhatIsNotFiniteStaysSo) {
  KernelCheck check(1);
  const auto q = check.add(DType::kF32, {4, 8}), k = check.add(DType::kF32, {300, 8});
  const auto v = check.add(DType::kF32, {300, 8}), out = check.add_output(DType::kF32, {4, 8});
  check.set(q, 8, std::nan(""));
  check.set(v, 299 * 8 + 3, std::numeric_limits<double>::infinity());
  check.kernel.work = Attention{check.whole(q), check.whole(k), check.whole(v), check.whole(out)};
  check.expect_equal(1e-4, 1e-4, "NaN and infinity");
}

TEST_P(CpuAttentionTest, ScatterIsAsThePlainOne) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kBool, DType::kI64}) {
    for (const bool in_place : {false, true}) {
      for (const DType index_dtype : {DType::kI32, DType::kI64}) {
        KernelCheck check(7);
        const auto data = check.add(dtype, {30, 7}), values = check.add(dtype, {5, 4});
        const auto index = check.add(index_dtype, {4, 5});
        for (std::int64_t i = 0; i < 20; ++i)
          check.set(index, i, static_cast<double>(check.below(230) - 10));
        const auto out = in_place ? data : check.add_output(dtype, {30, 7});
        check.kernel.work = ScatterInto{check.whole(data),
                                        {index, View::contiguous({4, 5}).permute({1, 0})},
                                        check.whole(values),
                                        check.whole(out),
                                        in_place};
        check.expect_equal(0, 0, std::string(name_of(dtype)));
      }
    }
  }
}

// As keys and values are written into their caches: whole rows, in any order, some of them outside,
// some twice.
TEST_P(CpuAttentionTest, ScatterOfRows) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const bool transposed : {false, true}) {
      KernelCheck check(11);
      const auto data = check.add_output(dtype, {3, 6, 8}), values = check.add(dtype, {4, 3, 8});
      const auto index = check.add(DType::kI64, {3, 4, 8});
      const std::int64_t starts[] = {0, 13, 40, 8, 100, 60, 64, 139, -3, 61, 128, 120};
      for (std::int64_t row = 0; row < 12; ++row) {
        for (std::int64_t e = 0; e < 8; ++e)
          check.set(index, row * 8 + e, static_cast<double>(starts[row] + e));
      }
      const auto out = View::contiguous({3, 6, 8});
      check.kernel.work =
          ScatterInto{{data, out},
                      check.whole(index),
                      {values, View::contiguous({4, 3, 8}).permute({1, 0, 2})},
                      {data, transposed ? View::contiguous({8, 18}).permute({1, 0}) : out},
                      true};
      check.expect_equal(0, 0, std::string(name_of(dtype)));
    }
  }
}

ASSAY_ON_INSTRUCTION_SETS(CpuAttentionTest);

}  // namespace
}  // namespace assay::compiler
