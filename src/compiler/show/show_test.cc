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
      for (const auto& of : {attention.q, attention.k, attention.v, attention.out}) {
        kernel.operands.push_back({.dtype = DType::kF32, .shape = of.view.shape});
      }
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

// Of an operand of `whole` elements that a region of `extent` reads by each of the views.
double bytes_read(std::int64_t whole, std::int64_t extent, const std::vector<View>& views) {
  Region region{.shape = {extent}};
  for (const auto& view : views) {
    region.values.push_back({.op = Op::kInput, .access = {0, view}});
  }
  Kernel kernel;
  kernel.work = region;
  kernel.operands = {{.dtype = DType::kF32, .shape = {whole}}};
  return cost_of(kernel, {}).bytes;
}

TEST(Show, BytesAreThoseThatViewsReach) {
  const auto whole = View::contiguous({100});
  EXPECT_EQ(bytes_read(100, 100, {whole}), 400);
  EXPECT_EQ(bytes_read(100, 100, {whole, whole}), 400);
  EXPECT_EQ(bytes_read(100, 100, {whole, whole.reverse(0)}), 400);
  EXPECT_EQ(bytes_read(1000, 10, {View{{10}, {1}, 500}}), 40);
  EXPECT_EQ(bytes_read(1000, 10, {View{{10}, {1}, 500}, View{{10}, {1}, 501}}), 44);
  EXPECT_EQ(bytes_read(1000, 10, {View{{10}, {100}, 0}}), 40);
  EXPECT_EQ(bytes_read(1000, 10, {View{{10}, {-100}, 900}, View{{10}, {0}, 3}}), 44);
  EXPECT_EQ(bytes_read(1000, 12, {View{{3, 4}, {1, 1}, 7}}), 24);  // a window that slides
  EXPECT_EQ(bytes_read(1000, 0, {View{{0}, {1}, 0}}), 0);
}

TEST(Show, TablesCountWhatIndicesCanReach) {
  const auto bytes = [](std::int64_t table, int gathers) {
    Region region{.shape = {10}};
    for (int i = 0; i < gathers; ++i) {
      region.values.push_back({.op = Op::kGather, .access = {0, View::contiguous({table})}});
    }
    Kernel kernel;
    kernel.work = region;
    kernel.operands = {{.dtype = DType::kF32, .shape = {table}}};
    return cost_of(kernel, {}).bytes;
  };
  EXPECT_EQ(bytes(100000, 1), 40);
  EXPECT_EQ(bytes(100000, 2), 80);
  EXPECT_EQ(bytes(15, 2), 60);
  // What is looked up once a row.
  Region region{.shape = {10, 7}};
  region.values.push_back(
      {.op = Op::kGather, .of_row = true, .access = {0, View::contiguous({1000})}});
  Kernel kernel;
  kernel.work = region;
  kernel.operands = {{.dtype = DType::kF32, .shape = {1000}}};
  EXPECT_EQ(cost_of(kernel, {}).bytes, 40);
}

TEST(Show, KeysThatNoQuerySeesAreNotRead) {
  const auto access = [](std::uint32_t operand, std::vector<Dim> shape) {
    return Access{operand, View::contiguous(std::move(shape))};
  };
  Attention attention;
  attention.q = access(0, {2, 5});
  attention.k = access(1, {100, 5});
  attention.v = access(2, {100, 7});
  attention.out = access(3, {2, 7});
  const auto bytes_of_keys = [&] {
    Kernel kernel;
    kernel.work = attention;
    for (const auto& of : {attention.q, attention.k, attention.v, attention.out}) {
      kernel.operands.push_back({.dtype = DType::kF32, .shape = of.view.shape});
    }
    return cost_of(kernel, {}).bytes - 4 * 2 * (5 + 7);
  };
  EXPECT_EQ(bytes_of_keys(), 100 * 12 * 4);
  attention.causal = true;
  attention.offset = 38;
  EXPECT_EQ(bytes_of_keys(), 40 * 12 * 4);
  attention.window = 10;  // keys 29 to 38, and 30 to 39
  EXPECT_EQ(bytes_of_keys(), 11 * 12 * 4);
  attention.offset = 200;
  EXPECT_EQ(bytes_of_keys(), 0);
}

}  // namespace
}  // namespace assay::compiler
