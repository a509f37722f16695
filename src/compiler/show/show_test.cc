// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/show/kernel_cost.h"
#include "compiler/show/show_program.h"

namespace assay::compiler {
namespace {

using testing::HasSubstr;

TEST(Show, NamesInADrawingAreText) {
  using namespace std::string_literals;
  Program program;
  program.buffers.emplace_back();
  program.buffers[0].name = "a\n\"b\\c\0d\x7f"s;
  program.buffers[0].shape = {4};
  const auto dot = as_dot(program);
  EXPECT_THAT(dot, HasSubstr(R"([label="a\\n\"b\\c\\x00d\\x7f\nf32 [4]")"));
  EXPECT_EQ(dot.find('\0'), std::string::npos);
}

TEST(Show, AttentionCountsTheKeysThatAQuerySees) {
  const Dim s = Dim::symbol("s"), t = Dim::symbol("t"), past = Dim::symbol("past");
  const auto access = [](std::uint32_t operand, std::vector<Dim> shape) {
    return Access{operand, View::contiguous(std::move(shape))};
  };
  for (const bool causal : {false, true}) {
    for (const int window : {0, 1, 3, 100}) {
      Attention attention;
      attention.q = access(0, {2, s, 5});
      attention.k = access(1, {2, t, 5});
      attention.v = access(2, {2, t, 7});
      attention.out = access(3, {2, s, 7});
      attention.causal = causal;
      attention.offset = past;
      if (window > 0) attention.window = window;
      Kernel kernel;
      kernel.work = attention;
      for (const std::int64_t queries : {0, 1, 4, 9}) {
        for (const std::int64_t keys : {1, 4, 11}) {
          for (const std::int64_t offset : {-6, -1, 0, 2, 20}) {
            double pairs = 0;
            for (std::int64_t i = 0; i < queries; ++i) {
              for (std::int64_t j = 0; j < keys; ++j) {
                const bool is_late = causal && j > i + offset;
                const bool is_early = window > 0 && j <= i + offset - window;
                pairs += !is_late && !is_early;
              }
            }
            const auto cost = cost_of(kernel, {{"s", queries}, {"t", keys}, {"past", offset}});
            EXPECT_EQ(cost.operations, pairs * 2 * 2 * (5 + 7))
                << causal << " " << window << " " << queries << " " << keys << " " << offset;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::compiler
