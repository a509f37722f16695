// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// What a plan says of itself: totals, memory.
#include "einsum/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "base/philox.h"
#include "einsum/einsum.h"
#include "einsum/plan/explain.h"
#include "einsum/testing/example_operands.h"

namespace assay::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// An expression of 1 to 5 terms over eight labels, with labels that only one term has, and repeats.
struct RandomNetwork {
  std::string expression;
  std::vector<Shape> shapes;
};
RandomNetwork random_plan_network(std::uint64_t seed) {
  const Philox random(seed, stream_key("network"));
  std::uint64_t draws = 0;
  const auto below = [&](std::uint64_t n) { return uniform_below(random[draws++], n); };
  RandomNetwork made;
  std::string output;
  std::vector<std::int64_t> extents;
  for (int l = 0; l < 8; ++l) extents.push_back(static_cast<std::int64_t>(1 + below(6)));
  const auto terms = 1 + below(5);
  for (std::uint64_t t = 0; t < terms; ++t) {
    made.expression += t == 0 ? "" : ",";
    std::vector<std::int64_t> shape;
    for (int l = 0; l < 8; ++l) {
      if (below(3) != 0) continue;
      made.expression += static_cast<char>('a' + l);
      shape.push_back(extents[static_cast<std::size_t>(l)]);
      const char name = static_cast<char>('a' + l);
      if (below(2) == 0 && output.find(name) == std::string::npos) output += name;
    }
    made.shapes.emplace_back(shape);
  }
  made.expression += "->" + output;
  return made;
}

TEST(Plan, TotalsAreTheSumsOfSteps) {
  Engine engine;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto network = random_plan_network(seed);
    std::vector<OperandSpec> specs;
    for (const auto& shape : network.shapes)
      specs.push_back(OperandSpec::dense(DType::kF64, shape));
    PlanOptions options;
    if (seed % 4 == 1) options.objective = Objective::kFlop;
    const auto json = explain(*engine.plan(network.expression, specs, options));
    double mac = 0, flop = 0;
    for (const auto& step : json["steps"]) {
      const auto runs = step["runs"].get<double>();
      mac += runs * step["mac"].get<double>();
      flop += runs * step["flop"].get<double>();
      // The one definition: 2·MAC where something is summed, else MAC.
      EXPECT_EQ(step["flop"].get<double>(),
                step["mac"].get<double>() * (step["k"].get<double>() > 1 ? 2 : 1));
    }
    EXPECT_EQ(json["mac"].get<double>(), mac) << network.expression;
    EXPECT_EQ(json["flop"].get<double>(), flop) << network.expression;
  }
}

TEST(Plan, TheReferenceKeepsToItsMemoryAndSaysWhatItTakes) {
  const std::string e = "ab,bc,cd->ad";
  const auto tensors = operands_of(e, {30, 30, 30, 30}, DType::kF32);
  const auto views = views_of(tensors);
  Engine engine({.backend = Backend::kReference});
  EXPECT_THAT([&] { engine.plan(e, views, {.memory = 10 << 10}); },
              ThrowsMessage<UserError>(HasSubstr("more than the memory bound of 10.00 KiB")));
  const auto plan = engine.plan(e, views);
  Tensor out(DType::kF32, Shape({30, 30}));
  const auto report = engine.einsum_into(e, views, out.mutable_view());
  // Four tensors of 900 elements in f32, and copies of them in f64.
  EXPECT_EQ(plan->peak_bytes, 4 * 900 * (4 + 8));
  EXPECT_EQ(static_cast<double>(report.peak_bytes), plan->peak_bytes);
  EXPECT_EQ(plan->mac, 30.0 * 30 * 30 * 30);
  EXPECT_EQ(plan->flop, 2 * plan->mac);
  EXPECT_THAT(explain_text(*plan), HasSubstr("no prediction"));
  EXPECT_TRUE(explain(*plan)["predicted_s"].is_null());
}

// A kernel that packs may have no room beside whole intermediates; parts of them leave it some.
TEST(Plan, MoreMemoryIsNeverSlowerByItsOwnPrediction) {
  Engine engine;
  const auto dense = [](DType dtype, std::int64_t n) {
    return OperandSpec::dense(dtype, Shape({n, n}));
  };
  const std::vector<OperandSpec> ring(4, dense(DType::kF64, 1500)),
      pair(2, dense(DType::kF32, 1024)), chain(3, dense(DType::kF32, 600));
  struct Row {
    const char* expression;
    const std::vector<OperandSpec>& operands;
    double least;  // MiB
  };
  for (const auto& [expression, operands, least] :
       {Row{"ab,bc,cd,da->", ring, 69}, Row{"ij,jk->ik", pair, 12.1},
        Row{"ij,jk,kl->il", chain, 5.6}}) {
    const auto free = engine.plan(expression, operands, PlanOptions{});
    double before = INFINITY;
    for (double mebibytes = least; mebibytes < 4 * least; mebibytes *= 1.1) {
      const auto bound = static_cast<std::uint64_t>(mebibytes * 0x1p20);
      const auto plan = engine.plan(expression, operands, PlanOptions{.memory = bound});
      EXPECT_LE(plan->peak_bytes, static_cast<double>(bound));
      EXPECT_LE(plan->predicted_s, 1.001 * before) << expression << " at " << mebibytes << " MiB";
      const bool squeezed =
          std::ranges::any_of(plan->steps, [](const auto& step) { return step.squeezed; });
      EXPECT_FALSE(squeezed && plan->path.optimal) << expression << " at " << mebibytes << " MiB";
      before = plan->predicted_s;
    }
    // Without a bound nothing is cut; where the model finds parts faster, a bounded plan gains.
    EXPECT_LE(before, 1.001 * free->predicted_s) << expression;
  }
  // Where whole matrices leave no room to pack, parts of them do.
  const auto tight = engine.plan("ab,bc,cd,da->", ring, PlanOptions{.memory = 103 << 20});
  for (const auto& step : tight->steps) EXPECT_NE(step.lowered.kernel, Kernel::kLoops);
}

TEST(Plan, CountsWhatKernelsPack) {
  // The product alone takes three matrices; its kernel packs panels of the operands beside them.
  Engine engine;
  const std::int64_t n = 512;
  const auto plan = engine.plan("ij,jk->ik",
                                std::vector{OperandSpec::dense(DType::kF64, Shape({n, n})),
                                            OperandSpec::dense(DType::kF64, Shape({n, n}))},
                                PlanOptions{});
  const double matrices = 3.0 * 8 * static_cast<double>(n * n);
  EXPECT_GT(plan->steps.front().lowered.packing, 0);
  EXPECT_EQ(plan->peak_bytes, matrices + 8 * plan->steps.front().lowered.packing);
  // With room for the matrices alone, another kernel serves.
  const auto tight = engine.plan("ij,jk->ik", plan->operands,
                                 PlanOptions{.memory = static_cast<std::uint64_t>(matrices)});
  EXPECT_EQ(tight->peak_bytes, matrices);
  EXPECT_EQ(tight->steps.front().lowered.packing, 0);
}

}  // namespace
}  // namespace assay::einsum
