// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/choose/test_search.h"
#include "compiler/cpu/cpu_runtime.h"
#include "compiler/testing/random_graph.h"

namespace assay::compiler {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Search, LayersShareTheirKernels) {
  const auto one = compile_default(layers(1)), five = compile_default(layers(5));
  // The first layer reads what is given and the last one writes what is asked for.
  EXPECT_LE(five.kernels.size(), one.kernels.size() + 2);
  EXPECT_EQ(compile_default(layers(9)).kernels.size(), five.kernels.size());
  EXPECT_EQ(5 * one.steps.size(), five.steps.size());
}

TEST(Search, ChoicesOfOneLayerAreThoseOfAll) {
  const auto g = layers(4);
  const auto runtime = plain_runtime();
  const Candidates candidates(g, {});
  const auto freedom = candidates.freedom({}, runtime);
  ASSERT_FALSE(freedom.options.empty());
  int shared = 0;
  for (const auto& [signature, count] : freedom.options) {
    Genome genome;
    genome.options[signature] = 1;
    const auto program = candidates.program(genome, runtime);
    // The first layer reads the input, so that a few of its choices are its own.
    shared += program.kernels.size() <= compile_default(g).kernels.size() + 3 ? 1 : 0;
  }
  EXPECT_GE(shared, static_cast<int>(freedom.options.size()) / 2);
}

TEST(Search, TooLargeIsNotTried) {
  SearchOptions options;
  options.candidates = 3;
  options.seconds = kAllTheTime;
  options.memory_limit = 1;
  options.symbols = {{"s", 3}};
  options.verify.most = 3;
  const auto result = search(layers(1), plain_runtime(), options);
  EXPECT_EQ(result.too_large, 3);
  EXPECT_EQ(result.timed, 0);
}

TEST(Search, AKernelThatIsWrongStopsIt) {
  auto runtime = plain_runtime();
  // One that adds a little where it should not.
  class OffByOne : public ReadyKernel {
   public:
    explicit OffByOne(const Kernel& kernel)
        : inner_(plain_runtime().prepare(kernel)),
          is_attention_(kind_of(kernel) == "attention"),
          kernel_(kernel) {}
    void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
      inner_->run(symbols, operands);
      if (!is_attention_) return;
      const auto out = std::get<Attention>(kernel_.work).out.operand;
      *reinterpret_cast<float*>(operands[out]) += 0.01F;  // NOLINT
    }

   private:
    std::unique_ptr<ReadyKernel> inner_;
    bool is_attention_;
    Kernel kernel_;
  };
  runtime.prepare = [](const Kernel& kernel) { return std::make_unique<OffByOne>(kernel); };
  SearchOptions options;
  options.candidates = 3;
  options.seconds = kAllTheTime;
  options.symbols = {{"s", 3}};
  options.verify.most = 3;
  try {
    search(layers(1), runtime, options);
    FAIL() << "a wrong program is not let through";
  } catch (const WrongProgram& e) {
    EXPECT_THAT(e.rules(), Contains("attention"));
    EXPECT_THAT(e.what(), HasSubstr("the smallest graph"));
    EXPECT_THAT(std::string(e.what()), testing::Not(HasSubstr("down")));
  }
}

// Random genomes of random graphs: every one computes what the graph says. `compiler_sweep` does
// the same for ten thousand graphs.
TEST(Search, EveryCandidateOfRandomGraphsIsRight) {
  const auto runtime = plain_runtime();
  for (std::uint64_t seed = 1000; seed < 1030; ++seed) {
    const auto wrong = mistake_among_candidates(random_graph(seed), runtime, 5, seed);
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

// Nothing is read of an operand, or nothing is written, and sums of nothing are 0.
TEST(Search, EveryCandidateOfRandomGraphsWithEmptyAxesIsRight) {
  const auto runtime = cpu_runtime(2);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto graph = random_graph_with_empty_axes(seed);
    const auto wrong = mistake_among_candidates(graph, runtime, 3, seed);
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

// Blocks, last parts of blocks, second threads; attention, rotary, the greatest few, experts.
TEST(Search, EveryCandidateOfRandomModelGraphsIsRight) {
  const auto runtime = cpu_runtime(2);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto wrong = mistake_among_candidates(random_model_graph(seed), runtime, 3, seed, {});
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

// They do leave the first tile.
TEST(Search, RandomModelGraphsAreLarge) {
  class Short : public ReadyKernel {
   public:
    explicit Short(const Kernel& kernel)
        : kernel_(kernel), right_(plain_runtime().prepare(kernel)) {}
    void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
      right_->run(symbols, operands);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto& formal = kernel_.operands[i];
        const auto elements = product(formal.shape).at(symbols);
        if (!formal.is_written || elements <= 1000) continue;
        std::memset(operands[i], 0, static_cast<std::size_t>(elements) * size_of(formal.dtype));
      }
    }

   private:
    Kernel kernel_;
    std::unique_ptr<ReadyKernel> right_;
  };
  auto runtime = plain_runtime();
  runtime.prepare = [](const Kernel& kernel) { return std::make_unique<Short>(kernel); };
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    seen += !mistake_among_candidates(random_model_graph(seed), runtime, 1, seed, {}).empty();
  }
  EXPECT_GE(seen, 6);  // half of them; the others are cut short or end in a sum
}

}  // namespace
}  // namespace assay::compiler
