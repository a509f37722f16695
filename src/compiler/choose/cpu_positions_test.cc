// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Regions whose values depend on positions: rotary embeddings, pads, concatenations. Tiles of them
// hold whole inner axes and parts of others; signs and masks are computed once; what is gathered by
// indices that are linear in the position is copied.

#include <gtest/gtest.h>

#include "compiler/choose/compile.h"
#include "compiler/cpu/affine_index.h"
#include "compiler/cpu/cpu_runtime.h"
#include "compiler/graph/graph_models.h"
#include "compiler/verify/program_verifier.h"

namespace assay::compiler {
namespace {

constexpr DType kFloats[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16};

void expect_right(const Graph& graph, const std::string& what) {
  for (const int threads : {1, 2}) {
    const auto mistake =
        ProgramVerifier(graph).mistake_of(compile_default(graph), cpu_runtime(threads));
    EXPECT_EQ(mistake, std::nullopt) << what << ", threads " << threads;
  }
}

struct Turned {
  std::int64_t tokens, heads, width, turned;  // the first `turned` elements of each head
  bool heads_first;
};

Graph rotary_graph(const Turned& t, DType dtype) {
  Graph g;
  auto x = t.heads_first
               ? GraphTensor::input(g, "x", dtype, {t.heads, t.tokens, t.width}).permute({1, 0, 2})
               : GraphTensor::input(g, "x", dtype, {t.tokens, t.heads, t.width});
  const auto table = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto of_tokens = [&](const char* name) {
    return GraphTensor::input(g, name, table, {t.tokens, t.turned / 2}).unsqueeze(1);
  };
  const auto y = rotary(x.slice(2, 0, t.turned), of_tokens("cos"), of_tokens("sin"));
  (t.turned == t.width ? y : concat({y, x.slice(2, t.turned, t.width)}, 2)).set_output("y");
  return g;
}

TEST(CpuPositions, RotaryEmbeddingsOfAwkwardShapes) {
  const Turned shapes[] = {{1, 32, 64, 64, false},    {5, 3, 6, 6, false},
                           {3, 7, 10, 10, true},      {70, 2, 64, 64, true},
                           {2, 1, 2, 2, false},       {67, 5, 34, 34, false},
                           {4, 3, 20, 10, false},     {9, 33, 64, 16, true},
                           {1, 1, 4096, 4096, false}, {3, 2, 1030, 1030, true}};
  for (const auto& shape : shapes) {
    for (const auto dtype : kFloats) {
      expect_right(rotary_graph(shape, dtype),
                   fmt::format("{} tokens, {} heads of {}, {} turned, {}", shape.tokens,
                               shape.heads, shape.width, shape.turned, name_of(dtype)));
    }
  }
}

// As modules of torch have it: halves exchanged by a concatenation.
TEST(CpuPositions, HalvesThatAreConcatenated) {
  for (const auto& [rows, heads, half] :
       std::vector<std::array<std::int64_t, 3>>{{3, 5, 7}, {40, 4, 32}, {1, 32, 32}, {2, 1, 700}}) {
    for (const auto dtype : kFloats) {
      Graph g;
      const auto x = GraphTensor::input(g, "x", dtype, {rows, heads, 2 * half});
      const auto sine = GraphTensor::input(g, "sin", dtype, {rows, 1, 2 * half});
      const auto turned = concat({-x.slice(2, half, 2 * half), x.slice(2, 0, half)}, 2);
      (x + turned * sine).set_output("y");
      expect_right(g, fmt::format("{} {} {} {}", rows, heads, half, name_of(dtype)));
    }
  }
}

TEST(CpuPositions, PadsAndConcatenationsAlongEveryAxis) {
  for (const int axis : {0, 1, 2}) {
    for (const auto dtype : {DType::kF32, DType::kBF16, DType::kF64, DType::kI32, DType::kBool}) {
      Graph g;
      const auto a = GraphTensor::input(g, "a", dtype, {5, 6, 33});
      std::vector<Dim> shape{5, 6, 33};
      shape[static_cast<std::size_t>(axis)] = 9;
      const auto b = GraphTensor::input(g, "b", dtype, shape);
      concat({a, b, a}, axis).set_output("joined");
      pad(a, axis, 3, 2, 1).set_output("padded");
      pad(a.reverse(2).transpose(), axis, 0, 7, 0).set_output("turned");
      expect_right(g, fmt::format("axis {}, {}", axis, name_of(dtype)));
    }
  }
}

TEST(CpuPositions, SymbolsChangeWhatWasComputedOnce) {
  Graph g;
  const auto s = g.symbol("s", 1, 64);
  const auto x = GraphTensor::input(g, "x", DType::kF32, {s, 3, 8});
  const auto half = [&](const char* name) {
    return GraphTensor::input(g, name, DType::kF32, {s, 4}).unsqueeze(1);
  };
  rotary(x, half("cos"), half("sin")).set_output("turned");
  concat({x, x * 2.0}, 0).set_output("twice");
  // A cache that is empty at first.
  const auto p = g.symbol("p", 0, 64);
  const auto cache = GraphTensor::input(g, "cache", DType::kF32, {p, 3, 8});
  concat({cache, x}, 0).set_output("cached");
  pad(cache, 1, 1, 2, -1).set_output("padded");
  expect_right(g, "s");
}

// Numbers of [3, 5]; a product of two of them, and what could wrap around, are not linear.
TEST(CpuPositions, WhichIndicesAreLinear) {
  using V = Region::Value;
  const auto iota = [](std::int64_t offset, Dim row, Dim column) {
    View view{{3, 5}, {std::move(row), std::move(column)}, offset};
    return V{.op = Op::kIota, .dtype = DType::kI64, .access = {0, view}};
  };
  const auto number = [](std::int64_t value) {
    return V{.op = Op::kConst, .dtype = DType::kI64, .bits = static_cast<std::uint64_t>(value)};
  };
  Region region{.shape = {3, 5}};
  region.values = {iota(2, 5, 1),
                   number(-3),
                   {.op = Op::kMul, .dtype = DType::kI64, .values = {0, 1}},
                   iota(0, 0, 1),
                   {.op = Op::kAdd, .dtype = DType::kI64, .values = {2, 3}},
                   {.op = Op::kMul, .dtype = DType::kI64, .values = {3, 3}},
                   number(INT64_MAX),
                   {.op = Op::kAdd, .dtype = DType::kI64, .values = {3, 6}},
                   {.op = Op::kMax, .dtype = DType::kI64, .values = {3, 1}}};
  const auto index = affine_index(region, 4, {3, 5}, {});
  ASSERT_TRUE(index);
  EXPECT_EQ(index->offset, -6);
  EXPECT_EQ(index->strides, (std::vector<std::int64_t>{-15, -2}));
  for (const std::uint32_t value : {5U, 7U, 8U}) {
    EXPECT_FALSE(affine_index(region, value, {3, 5}, {})) << value;
  }
  // Twice itself, sixty times: nobody writes that out.
  for (std::uint32_t last = 8; last < 68; ++last) {
    region.values.push_back({.op = Op::kAdd, .dtype = DType::kI64, .values = {last, last}});
  }
  region.values[8] = iota(0, 0, 0);
  EXPECT_FALSE(affine_index(region, 68, {3, 5}, {}));
}

}  // namespace
}  // namespace assay::compiler
