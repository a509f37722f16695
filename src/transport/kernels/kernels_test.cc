// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels against plain loops, for every instruction set that this processor has, at sizes around
// the leaf, the pack, the panel and zero.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/memory.h"
#include "kernels/targets.h"
#include "transport/kernels/kernels.h"
#include "transport/kernels/plain_matrix.h"
#include "transport/kernels/vector_kernels.h"

namespace assay::transport {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Kernels, PanelsAreFactoredWithTheGreatestPivots) {
  for (const auto& set : kernels::instruction_sets()) {
    SCOPED_TRACE(set.name);
    const kernels::OnlyInstructionSet only(set);
    const PanelKernels& panels = panel_kernels();
    for (const int rows : {1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 99}) {
      for (const int columns : {1, 7, 8, 9, 16, 31, 32}) {
        if (columns > rows) continue;
        auto a = random_matrix(rows, columns, static_cast<std::uint64_t>(rows * 100 + columns));
        auto lu = a;
        std::vector<int> pivots(static_cast<std::size_t>(columns), -1);
        EXPECT_TRUE(panels.factor(rows, columns, lu.v.data(), rows, pivots.data()));
        for (int p = 0; p < columns; ++p) {
          const int other = pivots[static_cast<std::size_t>(p)];
          ASSERT_TRUE(other >= p && other < rows);
          exchange(a, p, other);
          for (int r = p + 1; r < rows; ++r) EXPECT_LE(std::abs(lu(r, p)), 1) << rows;
        }
        EXPECT_LE(difference(multiply_out(lu), a), growth(columns))
            << fmt::format("{}x{}", rows, columns);
      }
    }
  }
}

TEST(Kernels, PanelsOfAwkwardNumbers) {
  for (const auto& set : kernels::instruction_sets()) {
    SCOPED_TRACE(set.name);
    const kernels::OnlyInstructionSet only(set);
    const PanelKernels& panels = panel_kernels();
    // Equal candidates: the first. The second column becomes zero: no pivot, and it says so.
    Plain<> equal(20, 2);
    for (int r = 0; r < 20; ++r) equal(r, 0) = equal(r, 1) = r % 2 == 0 ? 2 : -2;
    std::vector<int> pivots(2, -1);
    EXPECT_FALSE(panels.factor(20, 2, equal.v.data(), 20, pivots.data()));
    EXPECT_EQ(pivots[0], 0);
    EXPECT_EQ(equal(0, 0), 2);
    EXPECT_EQ(equal(1, 0), -1);
    EXPECT_EQ(equal(1, 1), 0);
    // A number is preferred to NaN; a column of NaN has its own row; all pivots are rows.
    Plain<> nan(20, 2);
    for (auto& x : nan.v) x = kNan;
    nan(17, 0) = -3;
    panels.factor(20, 2, nan.v.data(), 20, pivots.data());
    EXPECT_EQ(pivots[0], 17);
    EXPECT_EQ(pivots[1], 1);
    EXPECT_EQ(nan(0, 0), -3);
    // Pivots whose reciprocal is infinite.
    Plain<> tiny(17, 1);
    for (int r = 0; r < 17; ++r) tiny(r, 0) = r == 3 ? 4e-320 : 2e-320;
    EXPECT_TRUE(panels.factor(17, 1, tiny.v.data(), 17, pivots.data()));
    EXPECT_EQ(pivots[0], 3);
    for (int r = 1; r < 17; ++r) EXPECT_NEAR(tiny(r, 0), 0.5, 1e-3);  // of 8 thousand steps
  }
}

TEST(Kernels, TrianglesTimesTheirInverseAreTheIdentity) {
  for (const auto& set : kernels::instruction_sets()) {
    SCOPED_TRACE(set.name);
    const kernels::OnlyInstructionSet only(set);
    const PanelKernels& panels = panel_kernels();
    for (const auto shape : {Shape::kLower, Shape::kUpper}) {
      for (const int n : {0, 1, 7, 8, 9, 31, 32}) {
        const auto a = random_matrix(40, n, static_cast<std::uint64_t>(n));
        Plain<> triangle(kLeaf, kLeaf), inverse(kLeaf, kLeaf), identity(kLeaf, kLeaf);
        auto source = a;
        for (int c = 0; c < kLeaf; ++c) {
          triangle(c, c) = identity(c, c) = 1;
          if (c >= n) continue;
          for (int r = 0; r < n; ++r) source(r, c) *= r == c ? 1 : 0.1;  // κ stays small
          if (shape == Shape::kUpper) triangle(c, c) = source(c, c) = 1 + std::abs(a(c, c));
          for (int r = 0; r < n; ++r) {
            if (shape == Shape::kLower ? r > c : r < c) triangle(r, c) = source(r, c);
          }
        }
        panels.invert_triangle(shape, n, source.v.data(), 40, inverse.v.data());
        EXPECT_LE(difference(product(triangle, inverse), identity), 1e-13) << n;
        if (shape == Shape::kUpper) continue;
        for (const int columns : {0, 1, 5, 6, 7, 13}) {
          auto b = random_matrix(n, columns, 9);
          Plain<> padded(kLeaf, columns);
          for (int c = 0; c < columns; ++c) {
            for (int r = 0; r < n; ++r) padded(r, c) = b(r, c);
          }
          const auto expected = product(inverse, padded);
          panels.apply_lower(n, columns, inverse.v.data(), b.v.data(), n);
          for (int c = 0; c < columns; ++c) {
            for (int r = 0; r < n; ++r) EXPECT_NEAR(b(r, c), expected(r, c), 1e-14 * kLeaf);
          }
        }
      }
    }
  }
}

template <typename T>
void check_leaves(double tolerance) {
  for (const auto& set : kernels::instruction_sets()) {
    SCOPED_TRACE(set.name);
    const kernels::OnlyInstructionSet only(set);
    const LeafKernels<T>& leaves = leaf_kernels(T{});
    for (const auto shape : {Shape::kFull, Shape::kLower, Shape::kUpper}) {
      for (const int columns : {1, 8, 9, 31, 32}) {
        for (const int rows : {0, 1, 15, 16, 17, 31, 32, 33, 70}) {
          auto block = random_matrix<T>(kLeaf, kLeaf, 5);
          Plain<T> used(columns, columns);
          for (int c = 0; c < kLeaf; ++c) {
            for (int r = 0; r < kLeaf; ++r) {
              if (shape == Shape::kLower ? r < c : shape == Shape::kUpper && r > c) block(r, c) = 0;
              if (r < columns && c < columns) used(r, c) = block(r, c);
            }
          }
          auto a = random_matrix<T>(rows, columns, 6);
          const auto expected = product(a, used);
          leaves.multiply(rows, columns, a.v.data(), rows, block.v.data(), shape);
          EXPECT_LE(difference(a, expected), tolerance) << fmt::format("{}x{}", rows, columns);
        }
      }
    }
    // Blocks that only exchanges can invert: cycles of rows.
    for (const int n : {0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 25, 31, 32}) {
      Plain<T> cycle(kLeaf, kLeaf), back(kLeaf, kLeaf);
      for (int r = 0; r < n; ++r) {
        cycle(r, (r + 1) % n) = 2;
        back((r + 1) % n, r) = T{0.5};
      }
      leaves.invert(n, cycle.v.data());
      EXPECT_EQ(cycle.v, back.v) << n;
    }
  }
}
TEST(Kernels, TallMatricesTimesLeaves) {
  check_leaves<double>(1e-15 * 32);  // 32 terms of size 1
  check_leaves<float>(1e-6 * 32);
}

// Blocks of every number of outputs, the second ones added to the first.
template <typename T>
void check_combinations(double tolerance) {
  for (const auto& set : kernels::instruction_sets()) {
    SCOPED_TRACE(set.name);
    const kernels::OnlyInstructionSet only(set);
    for (const int outputs : {1, 2, 5, 6, 7, 11, 12, 13, 25}) {
      for (const int rows : {1, 2, 8, 9, 16, 17, 24, 25, 31, 32, 33, 63, 64, 70, 129}) {
        const int inputs = 9;
        Combination<T> terms{.inputs = inputs, .outputs = outputs};
        terms.blocks = {{5, outputs, 0, 0, 0, true}, {4, outputs, 5, 0, 5 * outputs, false}};
        for (int i = 0; i < inputs; ++i) terms.source.push_back((i * 4) % inputs);
        for (int o = 0; o < outputs; ++o) terms.output.push_back(outputs - 1 - o);
        const auto weights = random_matrix<T>(outputs, inputs, 11);
        terms.weight = weights.v;
        Plain<T> matrix(inputs, outputs);
        for (int i = 0; i < inputs; ++i) {
          for (int o = 0; o < outputs; ++o) {
            matrix(terms.source[static_cast<std::size_t>(i)], outputs - 1 - o) = weights(o, i);
          }
        }
        const auto in = random_matrix<T>(rows, inputs, 12);
        const auto expected = product(in, matrix);
        const TermsView<T> view = {inputs,
                                   outputs,
                                   terms.blocks.data(),
                                   2,
                                   terms.source.data(),
                                   terms.output.data(),
                                   terms.weight.data()};
        const auto panel = aligned_block<T>(elements(kPanelBytes, inputs + outputs));
        Plain<T> out(rows, outputs), turned(outputs, rows), back(rows, outputs);
        combine_kernel(T{})(rows, in.v.data(), view, false, panel.get(), out.v.data());
        combine_kernel(T{})(rows, in.v.data(), view, true, panel.get(), turned.v.data());
        for (int r = 0; r < rows; ++r) {
          for (int o = 0; o < outputs; ++o) back(r, o) = turned(o, r);
        }
        EXPECT_LE(difference(out, expected), tolerance)
            << fmt::format("{} rows, {} outputs", rows, outputs);
        EXPECT_EQ(out.v, back.v);
      }
    }
  }
}
TEST(Kernels, CombinationsOfEverySetAndShape) {
  check_combinations<double>(1e-15 * 9);  // nine terms of size 1
  check_combinations<float>(1e-6 * 9);
}

TEST(Kernels, CombinationsMatchPlainLoopsEitherWayRound) {
  for (const int rows : {1, 7, 31, 32, 33, 64, 70}) {
    const int columns = 5;
    // out_0 = in_0 − 2 in_4, out_1 = ½ in_2 + ¼ in_2, out_2 = 3 in_3, in blocks of several shapes.
    Combination<double> terms{.inputs = columns, .outputs = 3};
    terms.blocks = {{2, 1, 0, 0, 0, true}, {2, 2, 2, 1, 2, true}, {1, 1, 4, 3, 6, false}};
    terms.source = {0, 4, 2, 3, 2};
    terms.output = {0, 1, 2, 1};
    terms.weight = {1, -2, 0.5, 0, 0, 3, 0.25};
    std::vector<double> in(elements(rows, columns)), out(elements(rows, 3), -1);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i % 11) - 3;
    combine_columns(rows, in.data(), terms, false, out.data());
    const auto at = [&](int r, int c) {
      return in[elements(c, rows) + static_cast<std::size_t>(r)];
    };
    for (int r = 0; r < rows; ++r) {
      const auto i = static_cast<std::size_t>(r);
      EXPECT_EQ(out[i], at(r, 0) - 2 * at(r, 4));  // small integers: exact
      EXPECT_EQ(out[elements(1, rows) + i], 0.75 * at(r, 2));
      EXPECT_EQ(out[elements(2, rows) + i], 3 * at(r, 3));
    }
    std::vector<double> turned(out.size(), -1);
    combine_columns(rows, in.data(), terms, true, turned.data());
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < 3; ++c) {
        EXPECT_EQ(turned[elements(r, 3) + static_cast<std::size_t>(c)],
                  out[elements(c, rows) + static_cast<std::size_t>(r)]);
      }
    }
  }
}

}  // namespace
}  // namespace assay::transport
