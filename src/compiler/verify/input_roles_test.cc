// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/input_roles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "compiler/graph/graph_models.h"
#include "compiler/graph/graph_tensor.h"
#include "compiler/verify/test_inputs.h"
#include "tensor/view.h"

namespace assay::compiler {
namespace {

constexpr auto kF32 = DType::kF32;

// A batch norm whose statistics are given, and a product of it.
Graph normalised() {
  Graph g;
  const auto input = [&](const char* name, std::vector<Dim> shape) {
    return GraphTensor::input(g, name, kF32, std::move(shape));
  };
  const auto x = input("x", {g.symbol("s", 1, 64), 32});
  const auto scaled = (x - input("mean", {32})) * recip(sqrt(input("var", {32}) + 1e-5));
  matmul(relu(scaled), input("w", {32, 16})).set_output("y");
  return g;
}

TEST(InputRoles, WhatARootIsTakenOfIsNotBelowZero) {
  const auto graph = normalised();
  EXPECT_FALSE(may_leave_roots(graph));
  for (const auto style : {InputStyle::kOrdinary, InputStyle::kMasking, InputStyle::kStrong,
                           InputStyle::kHuge, InputStyle::kDirect}) {
    const auto trial = make_trial(graph, {{"s", 40}}, style, 1);
    bool has_negative = false;
    for (const float value : trial.inputs.at("var").as<float>()) EXPECT_GE(value, 0.0F);
    for (const float value : trial.inputs.at("x").as<float>()) has_negative |= value < 0;
    EXPECT_TRUE(has_negative) << "of what is under no root";
  }
}

TEST(InputRoles, RootsThatMayBeLeftAreKnown) {
  const auto may_leave = [](const std::function<GraphTensor(const GraphTensor&)>& f) {
    Graph g;
    f(GraphTensor::input(g, "x", kF32, {4, 8})).set_output("y");
    return may_leave_roots(g);
  };
  EXPECT_FALSE(may_leave([](const auto& x) { return sqrt(x); }));
  EXPECT_FALSE(may_leave([](const auto& x) { return log(x * 0.5 + 1.0); }));
  EXPECT_FALSE(
      may_leave([](const auto& x) { return x * recip(sqrt((x * x).mean(-1, true) + 1e-5)); }));
  EXPECT_FALSE(may_leave([](const auto& x) { return log(exp(x).sum(-1)); }));
  EXPECT_TRUE(may_leave([](const auto& x) { return log(x * -1.0 + 1.0); }));
  EXPECT_TRUE(may_leave([](const auto& x) { return sqrt(x.sum(-1)); }));
  EXPECT_TRUE(may_leave([](const auto& x) { return log(sin(x)); }));
}

TEST(Trials, SmallOnesHaveEveryKindOfNumber) {
  for (const std::int64_t count : {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 40}) {
    Graph g;
    const auto x = GraphTensor::input(g, "x", kF32, {count});
    const auto table = GraphTensor::input(g, "table", kF32, {20});
    gather(table, GraphTensor::input(g, "index", DType::kI64, {count})).set_output("z");
    (x + 1.0).set_output("y");
    std::set<std::string> kinds;
    std::set<std::int64_t> indices;
    const auto seeds = trials_of_kinds(g, {});
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const auto trial = make_trial(g, {}, InputStyle::kAdversarial, seed);
      for (const float value : trial.inputs.at("x").as<float>()) {
        kinds.insert(std::isnan(value) ? "nan" : fmt::format("{}", value));
      }
      for (const auto index : trial.inputs.at("index").as<std::int64_t>()) indices.insert(index);
    }
    for (const char* kind : {"nan", "inf", "-inf", "0", "-0", "1"}) {
      EXPECT_TRUE(kinds.contains(kind)) << kind << " of " << count;
    }
    const auto greatest = std::numeric_limits<float>::max();
    EXPECT_TRUE(kinds.contains(fmt::format("{}", greatest))) << count;
    EXPECT_TRUE(kinds.contains(fmt::format("{}", -greatest))) << count;
    using Limits = std::numeric_limits<std::int64_t>;
    for (const auto index : {Limits::min(), Limits::max(), std::int64_t{-1}, std::int64_t{20}}) {
      EXPECT_TRUE(indices.contains(index)) << index << " of " << count;
    }
  }
}

TEST(Trials, SomeRowsAreWhollyEmpty) {
  for (std::int64_t rows = 2; rows < 40; ++rows) {
    Graph g;
    (GraphTensor::input(g, "x", kF32, {rows, 24}) * 2.0).set_output("y");
    const auto trial = make_trial(g, {}, InputStyle::kMasking, 1);
    const auto values = trial.inputs.at("x").as<float>();
    int empty = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto of_row = values.subspan(static_cast<std::size_t>(24 * row), 24);
      empty += std::ranges::all_of(of_row, [](float value) { return value == 0; });
    }
    EXPECT_EQ(empty, (rows + 7) / 8) << rows;
  }
}

}  // namespace
}  // namespace assay::compiler
