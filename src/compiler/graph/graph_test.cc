// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "compiler/graph/graph_json.h"
#include "compiler/graph/graph_tensor.h"

namespace assay::compiler {
namespace {

using testing::HasSubstr;

std::string complaint(const std::function<void()>& act) {
  try {
    act();
  } catch (const UserError& e) {
    return e.what();
  }
  return "nothing was refused";
}

GraphTensor f32(Graph& g, const char* name, std::vector<Dim> shape) {
  return GraphTensor::input(g, name, DType::kF32, std::move(shape));
}

TEST(View, MovementIsArithmetic) {
  const Dim s = Dim::symbol("s");
  const auto v = View::contiguous({s, 4, 6});
  EXPECT_EQ(to_string(v.strides), "[24, 6, 1]");
  EXPECT_TRUE(v.is_contiguous());
  const auto p = v.permute({2, 0, 1});
  EXPECT_EQ(p.to_string(), "[6, s, 4] strides [1, 24, 6] offset 0");
  EXPECT_FALSE(p.is_contiguous());
  EXPECT_EQ(p.permute({1, 2, 0}), v);
  EXPECT_EQ(v.split(2, 3).to_string(), "[s, 4, 2, 3] strides [24, 6, 3, 1] offset 0");
  EXPECT_EQ(v.split(2, 3).merge(2), v);
  EXPECT_EQ(v.merge(0)->to_string(), "[4*s, 6] strides [6, 1] offset 0");
  EXPECT_EQ(p.merge(0), std::nullopt);
  EXPECT_EQ(v.slice(1, 1, 4, 2).to_string(), "[s, 2, 6] strides [24, 12, 1] offset 6");
  EXPECT_EQ(v.reverse(2).to_string(), "[s, 4, 6] strides [24, 6, -1] offset 5");
  EXPECT_EQ(v.reverse(2).reverse(2), v);
  EXPECT_EQ(v.reshape({2 * s, 12})->to_string(), "[2*s, 12] strides [12, 1] offset 0");
  EXPECT_EQ(p.reshape({3, 2, s, 4})->to_string(), "[3, 2, s, 4] strides [2, 1, 24, 6] offset 0");
  EXPECT_EQ(p.reshape({6 * s, 4}), std::nullopt);
  EXPECT_EQ(v.insert(1, 8).to_string(), "[s, 8, 4, 6] strides [24, 0, 6, 1] offset 0");
}

TEST(View, MisuseNamesShapeAndValue) {
  const auto v = View::contiguous({4, 6});
  EXPECT_THAT(complaint([&] { v.permute({0, 0}); }), HasSubstr("[4, 6]"));
  EXPECT_THAT(complaint([&] { v.expand(0, 3); }), HasSubstr("axis 0 of [4, 6] is 4"));
  EXPECT_THAT(complaint([&] { v.split(1, 4); }), HasSubstr("4 does not divide axis 1 of [4, 6]"));
  EXPECT_THAT(complaint([&] { v.slice(0, 2, 5); }), HasSubstr("2:5:1 of axis 0 of [4, 6]"));
  EXPECT_THAT(complaint([&] { v.slice(0, 0, 4, 0); }), HasSubstr("0:4:0"));
  EXPECT_THAT(complaint([&] { v.reshape({5, 5}); }), HasSubstr("24 elements"));
  EXPECT_THAT(complaint([&] { v.squeeze(7); }), HasSubstr("no axis 7"));
}

TEST(View, WhatWouldReadOutsideIsRefusedWhenSymbolsHaveValues) {
  const Dim s = Dim::symbol("s");
  const auto v = View::contiguous({16}).slice(0, s, s + 4);
  EXPECT_EQ(fixed(v, {{"s", 12}}, 16).offset, 12);
  EXPECT_THAT(complaint([&] {
                fixed(v, {{"s", 13}}, 16);
              }),
              HasSubstr("outside of its 16 elements"));
  EXPECT_THAT(complaint([&] { fixed(v, {{"s", -1}}, 16); }), HasSubstr("outside"));
  EXPECT_THAT(complaint([&] {
                fixed(View::contiguous({s - 5}), {{"s", 2}}, 16);
              }),
              HasSubstr("-3"));
}

TEST(Graph, EqualNodesAreOne) {
  Graph g;
  const auto a = f32(g, "a", {4}), b = f32(g, "b", {4});
  EXPECT_EQ((a + b).node(), (a + b).node());
  EXPECT_NE((a + b).node(), (b + a).node());
  EXPECT_EQ(f32(g, "a", {4}).node(), a.node());
  EXPECT_THAT(complaint([&] { f32(g, "a", {5}); }),
              HasSubstr("'a' is f32 [4] already, not f32 [5]"));
}

TEST(Graph, ConstantsHaveTheBitsOfTheirDType) {
  Graph g;
  const auto constant = [&](DType dtype, std::uint64_t bits) {
    Node node;
    node.dtype = dtype;
    node.bits = bits;
    g.add(node);
  };
  constant(DType::kBool, 1);
  constant(DType::kF64, ~std::uint64_t{0});
  EXPECT_THAT(complaint([&] { constant(DType::kBool, 2); }),
              HasSubstr("const: bits of bool are at most 0x1, got 0x2"));
  EXPECT_THAT(complaint([&] { constant(DType::kF32, 0x13f800000); }),
              HasSubstr("bits of f32 are at most 0xffffffff, got 0x13f800000"));
}

TEST(Graph, MisuseNamesOperationAndBothShapes) {
  Graph g;
  const auto a = f32(g, "a", {2, 3}), b = f32(g, "b", {4, 5});
  const auto i = GraphTensor::input(g, "i", DType::kI64, {2, 3});
  EXPECT_THAT(complaint([&] { a + b; }),
              HasSubstr("add: shapes [2, 3] and [4, 5] do not go together"));
  EXPECT_THAT(complaint([&] { matmul(a, b); }), HasSubstr("matmul: shapes [2, 3] and [4, 5]"));
  EXPECT_THAT(complaint([&] { a* i; }),
              HasSubstr("mul: f32 [2, 3] and i64 [2, 3]: dtypes do not mix"));
  EXPECT_THAT(complaint([&] { sin(i); }), HasSubstr("sin: of floating point, got i64"));
  EXPECT_THAT(complaint([&] { a.sum(2); }), HasSubstr("no axis 2 in shape [2, 3]"));
  EXPECT_THAT(complaint([&] { gather(a, b); }),
              HasSubstr("gather: indices are i32 or i64, got f32"));
  EXPECT_THAT(complaint([&] { select(a, a, a); }),
              HasSubstr("select: operand 0 is f32, expected bool"));
  EXPECT_THAT(complaint([&] {
                concat({a, b}, 0);
              }),
              HasSubstr("concat: f32 [2, 3] and f32 [4, 5]"));
  Graph other;
  EXPECT_THAT(complaint([&] { a + f32(other, "a", {2, 3}); }), HasSubstr("two graphs"));
  const Dim s = g.symbol("s", 0, 8);
  EXPECT_THAT(complaint([&] { f32(g, "e", {2, s}).max(1); }), HasSubstr("can be empty"));
  EXPECT_THAT(complaint([&] { f32(g, "u", {Dim::symbol("u")}); }),
              HasSubstr("unknown symbol: 'u'"));
  EXPECT_THAT(complaint([&] { g.symbol("s", 1, 8); }), HasSubstr("from 0 to 8 already"));
}

TEST(GraphJson, ComesBackNodeForNode) {
  Graph g;
  const Dim s = g.symbol("s", 1, 64);
  const auto x = f32(g, "x", {s, 8});
  const auto w = f32(g, "w", {8, 8});
  softmax(matmul(x, w)).set_output("y");
  rows(w, GraphTensor::input(g, "i", DType::kI32, {s})).set_output("z");
  x.slice(0, 0, s, 1).reverse(1).contiguous().set_output("r");
  const auto json = graph_to_json(g);
  const auto back = graph_from_json(json, "g.json");
  ASSERT_EQ(back.size(), g.size());
  for (NodeId id = 0; id < g.size(); ++id) EXPECT_EQ(back.node(id), g.node(id)) << id;
  EXPECT_EQ(back.outputs(), g.outputs());
  EXPECT_EQ(graph_to_json(back), json);
}

TEST(GraphJson, NonsenseIsNamed) {
  Graph g;
  sin(f32(g, "x", {4})).set_output("y");
  const auto good = graph_to_json(g);
  const auto broken = [&](const char* pointer, const Json& value) {
    auto json = good;
    json[Json::json_pointer(pointer)] = value;
    return complaint([&] { graph_from_json(json, "g.json"); });
  };
  EXPECT_THAT(broken("/nodes/1/op", "sinus"), HasSubstr("g.json: node 1: unknown operation"));
  EXPECT_THAT(broken("/nodes/1/dtype", "f31"), HasSubstr("f31"));
  EXPECT_THAT(broken("/nodes/1/shape", Json::array({5})),
              HasSubstr("node 1: sin: operand 0 has shape [4], expected [5]"));
  EXPECT_THAT(broken("/nodes/1/shape/0", "s + "), HasSubstr("node 1: 'shape'"));
  EXPECT_THAT(broken("/nodes/1/operands/0/node", 1), HasSubstr("no node before it has number 1"));
  EXPECT_THAT(broken("/nodes/1/operands/0/node", -1), HasSubstr("-1"));
  EXPECT_THAT(broken("/nodes/1/colour", 1), HasSubstr("unknown key 'colour'"));
  EXPECT_THAT(broken("/outputs/0/node", 7), HasSubstr("output 0: no node 7"));
  EXPECT_THAT(broken("/nodes/1/bits", "0x1"), HasSubstr("node 1: 'bits' is of constants alone"));
  EXPECT_THAT(broken("/nodes/1/name", "y"), HasSubstr("node 1: 'name' is of inputs alone"));
  EXPECT_THAT(broken("/nodes/0", {{"op", "const"}, {"dtype", "f32"}, {"shape", Json::array()}}),
              HasSubstr("node 0: 'bits' is missing"));
  EXPECT_THAT(broken("/nodes/0", {{"op", "input"}, {"dtype", "f32"}, {"shape", {4}}}),
              HasSubstr("node 0: 'name' is missing"));
  // A view without its shape is not the whole.
  EXPECT_THAT(broken("/nodes/1/operands/0/strides", Json::array({-1})),
              HasSubstr("node 1, operand 0: 'strides' without a 'shape'"));
  EXPECT_THAT(broken("/nodes/1/operands/0/offset", 3),
              HasSubstr("node 1, operand 0: 'offset' without a 'shape'"));
  EXPECT_THAT(broken("/nodes/1/operands/0/bits", "0x1"), HasSubstr("unknown key 'bits'"));
  const auto view = [](Json shape, Json strides, Json offset) {
    return Json{{"node", 0U}, {"shape", shape}, {"strides", strides}, {"offset", offset}};
  };
  EXPECT_THAT(broken("/nodes/1/operands/0", view({4}, {2}, 0)),
              HasSubstr("node 1, operand 0: a view reads outside of its 4 elements"));
  EXPECT_THAT(broken("/nodes/1/operands/0", view({4}, {-1}, 2)), HasSubstr("outside of its 4"));
  EXPECT_EQ(broken("/nodes/1/operands/0", view({4}, {-1}, 3)), "nothing was refused");
  EXPECT_THAT(broken("/nodes/1/operands/0", view({4}, {1, 1}, 0)), HasSubstr("1 extents"));
  const auto beyond = std::uint64_t{1} << 63;
  EXPECT_THAT(broken("/nodes/1/operands/0", view({4}, {beyond}, 0)),
              HasSubstr("operand 0: 'strides': beyond 64 bits: 9223372036854775808"));
  EXPECT_THAT(broken("/nodes/1/operands/0", view({4}, {1}, beyond)),
              HasSubstr("operand 0: 'offset': beyond 64 bits: 9223372036854775808"));
  EXPECT_THAT(broken("/outputs/0/node", ~std::uint64_t{0}),
              HasSubstr("output 0: 'node': beyond 64 bits: 18446744073709551615"));
  EXPECT_THAT(broken("/outputs/0/node", 0x1p64),
              HasSubstr("output 0: 'node': beyond 64 bits: 18446744073709551616"));
  EXPECT_THAT(broken("/nodes/0/shape/0", -0x1p64), HasSubstr("64 bits: -18446744073709551616"));
  EXPECT_THAT(broken("/nodes/0/shape/0", 4.5), HasSubstr("'shape': an integer, got 4.5"));
  EXPECT_THAT(broken("/symbols/s", {0, 0x1p64}), HasSubstr("'s': beyond 64 bits: 18446744073709"));
  EXPECT_THAT(broken("/symbols/s", {0, 4.5}), HasSubstr("'s': an integer, got 4.5"));
  EXPECT_THAT(broken("/symbols/s", 5), HasSubstr("symbol 's' is [least, most]"));
  EXPECT_THAT(broken("/nodes/0/shape", std::vector<int>(65, 1)),
              HasSubstr("node 0: 'shape': at most 64 axes, got 65"));
  EXPECT_THAT(broken("/nodes", 7), HasSubstr("'nodes' is a list"));
  EXPECT_THAT(broken("/symbols", Json{{"s", Json::array({3, 1})}}), HasSubstr("from 3 to 1"));
}

}  // namespace
}  // namespace assay::compiler
