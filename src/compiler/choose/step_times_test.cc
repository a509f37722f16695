// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/step_times.h"

#include <gtest/gtest.h>

#include "compiler/choose/candidate.h"
#include "compiler/graph/graph_tensor.h"

namespace assay::compiler {
namespace {

// Plain loops; counts the kernels that are made ready.
Runtime counting(int& prepared) {
  auto runtime = plain_runtime();
  runtime.prepare = [&prepared](const Kernel& kernel) {
    ++prepared;
    return plain_runtime().prepare(kernel);
  };
  return runtime;
}
constexpr StepTimes::Limits kNoLimit{.faster = 0, .slow = 1e9};

TEST(StepTimes, OnlyStepsThatDifferAreTimed) {
  Graph g;
  const auto x = GraphTensor::input(g, "x", DType::kF32, {g.symbol("s", 1, 9), 6});
  const auto y = matmul(x, GraphTensor::input(g, "w", DType::kF32, {6, 5}));
  matmul(y, GraphTensor::input(g, "v", DType::kF32, {5, 7})).set_output("z");
  const Candidates candidates(g, {});
  int prepared = 0;
  const auto runtime = counting(prepared);
  StepTimes times(runtime, {{"s", 3}});
  const auto standard = candidates.program({}, runtime);
  EXPECT_EQ(times.difference(standard, standard, kNoLimit), 0.0);
  EXPECT_EQ(prepared, 0);

  // One product by other means: two kernels are timed, and again in turns if the other is faster.
  const auto freedom = candidates.freedom({}, runtime);
  ASSERT_FALSE(freedom.options.empty());
  Genome genome;
  genome.options[freedom.options.begin()->first] = 1;
  const auto other = candidates.program(genome, runtime);
  const auto slower = times.difference(standard, other, kNoLimit);
  ASSERT_TRUE(slower.has_value());
  EXPECT_TRUE(prepared == 2 || prepared == 4) << prepared;
  // Known by now; what looks faster one way looks slower the other.
  prepared = 0;
  const auto back = times.difference(other, standard, kNoLimit);
  ASSERT_TRUE(back.has_value());
  EXPECT_TRUE(prepared == 0 || prepared == 2) << prepared;
}

TEST(StepTimes, OfStepsThatReadIndicesNothingIsSaid) {
  Graph g;
  const auto x = GraphTensor::input(g, "x", DType::kF32, {8});
  const auto at = GraphTensor::input(g, "at", DType::kI32, {5});
  (gather(x, at) * gather(x, at)).sum(0).set_output("y");
  const Candidates candidates(g, {});
  int prepared = 0;
  const auto runtime = counting(prepared);
  Genome genome;
  for (const auto node : candidates.freedom({}, runtime).nodes) genome.kept.insert(node);
  StepTimes times(runtime, {});
  EXPECT_EQ(times.difference(candidates.program({}, runtime), candidates.program(genome, runtime),
                             kNoLimit),
            std::nullopt);
  EXPECT_EQ(prepared, 0);
}

}  // namespace
}  // namespace assay::compiler
