// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated kernels beside plain loops, on a device of fibers: every kind, dtypes, strides, sizes
// on both sides of a tile, operands one element behind a boundary; then whole random programs.
#include "compiler/cuda/testing/host_device.h"

#include <gtest/gtest.h>

#include "compiler/choose/search.h"
#include "compiler/cuda/testing/trial_kernels.h"
#include "compiler/testing/random_graph.h"

namespace assay::compiler::cuda {
namespace {

// Each list of all variants, every so many of the symbols' values: fibers are slow.
void expect_right(const std::vector<TrialKernel>& trials, std::size_t every,
                  SourceOptions options = {.multiprocessors = 2}) {
  const auto runtime = host_device_runtime(options);
  std::size_t number = 0;
  std::vector<TrialKernel> all;
  for (auto trial : trials) {
    for (std::uint32_t variant = 0; variant < variants_of(trial.kernel); ++variant) {
      trial.kernel.variant = variant;
      all.push_back(trial);
    }
  }
  for (const auto& trial : all) {
    for (std::size_t i = number++ % every; i < trial.at.size(); i += every) {
      EXPECT_EQ(mistake_of(trial, runtime, trial.at[i], i % 2 == 1), "")
          << trial.what << ", variant " << trial.kernel.variant << ", values " << i;
    }
  }
}

TEST(HostDevice, ComputesProductsAsPlainLoopsDo) { expect_right(trial_products(), 6); }
TEST(HostDevice, ComputesProductsWithoutALibrary) {
  expect_right(trial_products(), 8, {.multiprocessors = 2, .has_library = false});
}
TEST(HostDevice, ComputesExpertsAsPlainLoopsDo) { expect_right(trial_grouped(), 3); }
TEST(HostDevice, ComputesAttentionAsPlainLoopsDo) { expect_right(trial_attentions(), 9); }
TEST(HostDevice, ScattersAsPlainLoopsDo) { expect_right(trial_scatters(), 1); }

void expect_right_programs(std::uint64_t seed, const Graph& graph) {
  EXPECT_EQ(mistake_among_candidates(graph, host_device_runtime(), 1, seed), "") << seed;
}
TEST(HostDevice, RunsRandomPrograms) {
  for (std::uint64_t seed = 200; seed < 202; ++seed)
    expect_right_programs(seed, random_graph(seed));
}
TEST(HostDevice, RunsRandomProgramsWithoutElements) {
  for (std::uint64_t seed = 7; seed < 8; ++seed)
    expect_right_programs(seed, random_graph_with_empty_axes(seed));
}
TEST(HostDevice, RunsWhatModelsAreMadeOf) { expect_right_programs(3, random_model_graph(3)); }

TEST(HostDevice, RunsBundlesAsTheirSteps) {
  const auto runtime = host_program_runtime();
  EXPECT_EQ(mistake_among_candidates(random_graph(203), runtime, 1, 203), "");
  EXPECT_EQ(mistake_among_candidates(random_model_graph(5), runtime, 1, 5), "");
}

}  // namespace
}  // namespace assay::compiler::cuda
