// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "compiler/choose/compile.h"
#include "compiler/graph/graph_json.h"
#include "compiler/graph/graph_tensor.h"
#include "compiler/program/program_json.h"
#include "compiler/run/executor.h"
#include "compiler/testing/random_graph.h"
#include "compiler/verify/bounds.h"
#include "compiler/verify/test_inputs.h"

namespace assay::compiler {
namespace {

// Runs a program by plain kernels on every style of inputs and looks at its outputs.
std::string mismatch(const Graph& graph, const Program& program, std::uint64_t seed) {
  Executor executor(program, plain_runtime(), {.canaries = true});
  for (const auto& symbols : symbol_values(graph, 6)) {
    for (const auto style : {InputStyle::kOrdinary, InputStyle::kAdversarial, InputStyle::kHuge}) {
      const auto trial = make_trial(graph, symbols, style, seed);
      const auto expected = interpret_with_bounds(graph, trial.views(), symbols);
      const auto got = run_program(executor, trial.views(), symbols);
      for (const auto& output : graph.outputs()) {
        const auto& tensor =
            output.replaces.empty() ? got.outputs.at(output.name) : got.states.at(output.replaces);
        const auto text = difference(expected.at(output.name), tensor.view());
        if (!text.empty()) return fmt::format("{}, {}: {}", output.name, trial.what, text);
      }
    }
  }
  return {};
}

TEST(Lower, RandomGraphsMeanWhatTheirProgramsDo) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const auto graph = random_graph(seed);
    for (const bool fuses : {true, false}) {
      FuseChoices choices;
      choices.regions = fuses;
      const auto program = lower(work_graph_of(graph), choices);
      auto wrong = mismatch(graph, program, seed);
      if (wrong.empty() && fuses) {
        wrong = mismatch(graph, compile_default(graph), seed);
        if (!wrong.empty()) wrong = "with rules: " + wrong;
      }
      ASSERT_EQ(wrong, "") << "seed " << seed << (fuses ? "" : ", not fused") << "\n"
                           << graph_to_json(graph).dump() << "\n"
                           << program_to_json(program).dump();
    }
  }
}

std::size_t kernels_of(const Graph& graph) { return lower(work_graph_of(graph)).steps.size(); }

TEST(Lower, WhatBelongsTogetherIsOneRegion) {
  const auto kernels = [](auto&& make, std::vector<Dim> shape = {6, 8}) {
    Graph g;
    const auto x = GraphTensor::input(g, "x", DType::kF32, std::move(shape));
    make(x).set_output("y");
    return kernels_of(g);
  };
  EXPECT_EQ(kernels([](const auto& x) { return softmax(x); }), 1U);
  EXPECT_EQ(kernels([](const auto& x) { return softmax(x, 0); }), 1U);
  EXPECT_EQ(kernels([](const auto& x) { return rms_norm(x, x.like(2), 1e-5); }), 1U);
  EXPECT_EQ(kernels([](const auto& x) { return layer_norm(x, x.like(2), x.like(1), 1e-5); }), 1U);
  EXPECT_EQ(kernels([](const auto& x) { return gelu_tanh(x) * sigmoid(x); }), 1U);
  EXPECT_EQ(kernels([](const auto& x) { return (x * x).mean(-1); }), 1U);
  EXPECT_EQ(kernels([](const auto& x) { return exp(x.transpose()) + 1.0; }), 1U);
  EXPECT_EQ(kernels([](const auto& x) { return x.max(-1) + x.sum(-1); }), 1U);
}

TEST(Lower, WhatARegionComputesAnywayItWritesForOthers) {
  Graph g;
  const auto x = GraphTensor::input(g, "x", DType::kF32, {6, 8});
  const auto y = GraphTensor::input(g, "y", DType::kF32, {6, 8});
  const auto sum = x + y;
  rms_norm(sum, x.like(1), 1e-5).set_output("norm");
  sum.set_output("sum");
  const auto program = lower(work_graph_of(g));
  ASSERT_EQ(program.steps.size(), 1U);
  EXPECT_EQ(std::get<Region>(program.kernels[0].work).stores.size(), 2U);
  EXPECT_EQ(mismatch(g, program, 1), "");
}

TEST(Lower, StatesAreReplaced) {
  Graph g;
  const auto cache = GraphTensor::input(g, "cache", DType::kF32, {8});
  const auto other = GraphTensor::input(g, "other", DType::kF32, {8});
  const auto at = GraphTensor::input(g, "at", DType::kI64, {2});
  const auto values = GraphTensor::input(g, "values", DType::kF32, {2});
  const auto next = scatter(cache, at, values);
  next.set_output("next", "cache");
  (next * 2.0).set_output("y");
  // Each becomes the other's former value.
  const auto third = GraphTensor::input(g, "third", DType::kF32, {8});
  third.set_output("next_other", "other");
  other.set_output("next_third", "third");
  const auto program = lower(work_graph_of(g));
  EXPECT_EQ(mismatch(g, program, 1), "");
  const auto in_place = [](const Kernel& kernel) {
    const auto* scatter = std::get_if<ScatterInto>(&kernel.work);
    return scatter != nullptr && scatter->in_place;
  };
  EXPECT_EQ(std::ranges::count_if(program.kernels, in_place), 1);
}

TEST(Lower, AScatterIntoWhatIsReadElsewhereIsNotInPlace) {
  Graph g;
  const auto cache = GraphTensor::input(g, "cache", DType::kF32, {8});
  const auto at = GraphTensor::input(g, "at", DType::kI64, {2});
  const auto values = GraphTensor::input(g, "values", DType::kF32, {2});
  const auto next = scatter(cache, at, values);
  next.set_output("next", "cache");
  (next + cache).set_output("y");
  const auto program = lower(work_graph_of(g));
  EXPECT_EQ(mismatch(g, program, 1), "");
}

// A graph may be as deep as it is long.
TEST(Lower, NeedsNoDeepStack) {
  Graph g;
  auto x = GraphTensor::input(g, "x", DType::kF32, {8});
  for (int i = 0; i < 5000; ++i) x = x * 0.5 + 1.0;
  x.set_output("y");
  Executor executor(compile_default(g), plain_runtime());
  Tensor given(DType::kF32, Shape({8}));
  const auto result = run_program(executor, {{"x", given.view()}}, {});
  EXPECT_EQ(result.outputs.at("y").as<float>()[7], 2);
}

TEST(MemoryPlan, OnlyWhatIsNeededAtOnceLiesApart) {
  Graph g;
  auto x = GraphTensor::input(g, "x", DType::kF32, {64});
  for (int i = 0; i < 10; ++i) x = scatter(x, GraphTensor::iota(g, 3), x.like(i));
  x.set_output("y");
  FuseChoices choices;
  choices.in_place = false;
  const auto program = lower(work_graph_of(g), choices);
  // Two of them beside the indices and what is written there.
  EXPECT_LE(plan_memory(program, {}).arena_bytes, 2 * 256 + 64 + 10 * 64);
}

}  // namespace
}  // namespace assay::compiler
