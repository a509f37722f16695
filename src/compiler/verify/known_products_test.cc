// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/known_products.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/graph/graph_tensor.h"
#include "compiler/verify/test_inputs.h"

namespace assay::compiler {
namespace {

// x W of more than 10⁶ terms in f32, and something done with it.
Graph product_then(const std::function<GraphTensor(const GraphTensor&, const GraphTensor&)>& then,
                   DType dtype = DType::kBF16) {
  Graph g;
  const auto x = GraphTensor::input(g, "operand0", dtype, {20, 300});
  const auto w = GraphTensor::input(g, "operand1", dtype, {300, 200});
  const auto more = GraphTensor::input(g, "operand2", DType::kF32, {20, 200});
  then(matmul(x.cast(DType::kF32), w.cast(DType::kF32)), more).set_output("operand3");
  return g;
}

void expect_same(KnownProducts& products, const Graph& g, InputStyle style, std::uint64_t seed) {
  const auto trial = make_trial(g, {}, style, seed);
  std::map<std::string, std::uint64_t> fingerprints;
  for (const auto& [name, tensor] : trial.inputs) {
    fingerprints[name] = 100 * static_cast<std::uint64_t>(style) + seed;
  }
  auto views = trial.views();
  const auto expected = interpret_with_bounds(g, views, {});
  const auto got = products.interpret(g, views, {}, fingerprints);
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    EXPECT_TRUE(std::ranges::equal(got.at(name).value.bytes(), tensor.value.bytes()));
    EXPECT_EQ(got.at(name).bounds, tensor.bounds);
  }
}

TEST(KnownProducts, AreInterpretedOnceAndChangeNothing) {
  KnownProducts products;
  const auto plain = product_then([](const auto& y, const auto&) { return y; });
  const auto added = product_then([](const auto& y, const auto& z) { return silu(y) + z; });
  // The sums are read twice, and as they lie elsewhere.
  const auto twice = product_then([](const auto& y, const auto& z) {
    return (y * y + z).transpose() * y.sum(-1).unsqueeze(0);
  });
  int expected = 0;
  for (const auto style : {InputStyle::kOrdinary, InputStyle::kAdversarial, InputStyle::kHuge}) {
    expect_same(products, added, style, 1);
    expect_same(products, plain, style, 1);
    expect_same(products, twice, style, 1);
    EXPECT_EQ(products.found(), expected += 2);
  }
  // Other inputs, or another dtype, are other sums.
  expect_same(products, added, InputStyle::kOrdinary, 2);
  const auto f32 = product_then([](const auto& y, const auto& z) { return y + z; }, DType::kF32);
  expect_same(products, f32, InputStyle::kOrdinary, 1);
  EXPECT_EQ(products.found(), expected);
}

TEST(KnownProducts, SmallOnesAndGraphsWithoutAreInterpretedAsTheyAre) {
  KnownProducts products;
  Graph g;
  const auto x = GraphTensor::input(g, "operand0", DType::kF32, {4, 4});
  matmul(x, x).set_output("y");
  for (int i = 0; i < 2; ++i) expect_same(products, g, InputStyle::kOrdinary, 1);
  EXPECT_EQ(products.found(), 0);
}

}  // namespace
}  // namespace assay::compiler
