// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Masks whose integers wrap around mean what the graph says, not what the numbers would be without
// end: rules that see windows in them must not see one there.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "compiler/choose/candidate.h"
#include "compiler/graph/graph_models.h"
#include "compiler/run/executor.h"
#include "compiler/verify/bounds.h"

namespace assay::compiler {
namespace {

GraphTensor number(Graph& g, DType dtype, std::int64_t value) {
  Node node;
  node.op = Op::kConst;
  node.dtype = dtype;
  node.bits =
      dtype == DType::kI32 ? static_cast<std::uint32_t>(value) : static_cast<std::uint64_t>(value);
  return GraphTensor::of_node(g, g.add(std::move(node)));
}

// Whether query i sees key j.
using Mask = std::function<GraphTensor(Graph& g, const GraphTensor& i, const GraphTensor& j)>;

struct Made {
  bool has_window = false;  // that the kernel knows of
  std::string mistake;
};
Made attention_with(DType dtype, const Mask& mask) {
  Graph g;
  const auto s = g.symbol("s", 1, 64);
  std::map<std::string, Tensor> tensors;
  double at = 0;
  const auto input = [&](const char* name) {
    auto& tensor = tensors.emplace(name, Tensor(DType::kF32, Shape({2, 13, 8}))).first->second;
    for (auto& value : tensor.as<float>()) value = static_cast<float>(std::sin(at++));
    return GraphTensor::input(g, name, DType::kF32, {2, s, 8});
  };
  const auto q = input("q"), k = input("k"), v = input("v");
  const auto i = GraphTensor::iota(g, s, dtype).unsqueeze(1), j = GraphTensor::iota(g, s, dtype);
  const auto scores = matmul(q, k.transpose()) * 0.35;
  const auto seen = mask(g, i, j).broadcast_to({2, s, s});
  matmul(softmax(select(seen, scores, scores.like(-INFINITY)), -1), v).set_output("y");

  Executor executor(Candidates(g, {}).program({}, plain_runtime()), plain_runtime());
  Made made;
  for (const auto& kernel : executor.program().kernels) {
    const auto* attention = std::get_if<Attention>(&kernel.work);
    if (attention != nullptr && attention->causal) made.has_window = true;
  }
  InputViews views;
  for (const auto& [name, tensor] : tensors) views.emplace(name, tensor.view());
  const Bindings symbols = {{"s", 13}};
  const auto got = run_program(executor, views, symbols);
  made.mistake =
      difference(interpret_with_bounds(g, views, symbols).at("y"), got.outputs.at("y").view());
  return made;
}

// A mask that is made of itself, and a position that goes a long way: looked at so far, and right.
TEST(WrappingMasks, WhatIsWrittenOutWithoutEndIsNoWindow) {
  const auto doubled = [](Graph&, const GraphTensor& i, const GraphTensor& j) {
    auto seen = logical_not(less(i, j));
    for (int times = 0; times < 40; ++times) seen = seen * seen;
    return seen;
  };
  const auto long_way = [](Graph& g, const GraphTensor& i, const GraphTensor& j) {
    auto far = i;
    for (int times = 0; times < 3000; ++times) far = far + number(g, DType::kI64, times % 2);
    return less(j, far);
  };
  for (const Mask& mask : {Mask(doubled), Mask(long_way)}) {
    const auto made = attention_with(DType::kI64, mask);
    EXPECT_EQ(made.mistake, "");
    EXPECT_FALSE(made.has_window);
  }
}

TEST(WrappingMasks, OnlyWhatDoesNotWrapIsAWindow) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto window_of = [](std::int64_t size) {
    return [size](Graph& g, const GraphTensor& i, const GraphTensor& j) {
      return logical_not(less(i, j)) * less(i, j + number(g, i.dtype(), size));
    };
  };
  const auto between = [](std::int64_t a, std::int64_t b) {
    return [=](Graph& g, const GraphTensor& i, const GraphTensor& j) {
      return less(j + number(g, i.dtype(), a), i + number(g, i.dtype(), b));
    };
  };
  const auto times = [](std::int64_t factor) {
    return [=](Graph& g, const GraphTensor& i, const GraphTensor& j) {
      const auto by = number(g, i.dtype(), factor);
      return less(j * by * by, i * by * by + number(g, i.dtype(), 1));
    };
  };
  const struct {
    DType dtype;
    Mask mask;
    bool is_window;
  } all[] = {
      {DType::kI32, window_of(7), true},
      {DType::kI64, window_of(kMost), true},
      {DType::kI32, window_of(kMost), false},
      {DType::kI32, window_of(kMost - 8), false},
      {DType::kI32, between(0, kMost - 8), false},
      {DType::kI64, between(std::int64_t{1} << 40, (std::int64_t{1} << 40) + 1), true},
      {DType::kI64, between((std::int64_t{1} << 53) + 1, std::int64_t{1} << 53), false},
      {DType::kI64, between(0, std::numeric_limits<std::int64_t>::max()), false},
      {DType::kI64, times(1), true},
      {DType::kI64, times(std::int64_t{1} << 50), false},
      {DType::kI32, times(std::int64_t{1} << 20), false},
  };
  int which = 0;
  for (const auto& [dtype, mask, is_window] : all) {
    const auto made = attention_with(dtype, mask);
    EXPECT_EQ(made.mistake, "") << which;
    EXPECT_EQ(made.has_window, is_window) << which;
    ++which;
  }
}

}  // namespace
}  // namespace assay::compiler
