// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/program_verifier.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "compiler/choose/candidate.h"
#include "compiler/graph/dtypes.h"
#include "compiler/graph/graph_models.h"

namespace assay::compiler {
namespace {

constexpr std::int64_t kHidden = 32, kInner = 48, kHeads = 4, kShared = 2, kWidth = 8, kTokens = 7;

GraphTensor weights(Graph& g, const std::string& name, DType dtype, std::vector<Dim> shape) {
  return GraphTensor::input(g, name, dtype, std::move(shape));
}

// A layer of a language model: what follows on a softmax, in bf16 and by a choice of experts, is
// what bounds of the whole say nothing about.
Graph layer(DType dtype, bool is_mixture) {
  Graph g;
  auto x = weights(g, "x", dtype, {kTokens, kHidden});
  const auto linear = [&](const GraphTensor& of, const char* name, std::int64_t out) {
    return matmul(of, weights(g, name, dtype, {out, of.shape().back()}).transpose());
  };
  const auto heads = [](const GraphTensor& of) { return of.split(1, kWidth).permute({1, 0, 2}); };
  const auto first = rms_norm(x, weights(g, "norm1", dtype, {kHidden}), 1e-5);
  const auto seen = attention(heads(linear(first, "q", kHeads * kWidth)),
                              heads(linear(first, "k", kShared * kWidth)),
                              heads(linear(first, "v", kShared * kWidth)), {.causal = true});
  x = x + linear(seen.permute({1, 0, 2}).reshape({kTokens, kHeads * kWidth}), "o", kHidden);
  const auto second = rms_norm(x, weights(g, "norm2", dtype, {kHidden}), 1e-5);
  if (is_mixture) {
    constexpr std::int64_t kExperts = 4, kTop = 2;
    const auto [scores, chosen] = top_k(linear(second, "router", kExperts).cast(DType::kF32), kTop);
    const auto rows = second.unsqueeze(1).expand(1, kTop).reshape({kTokens * kTop, kHidden});
    const auto parts = expert_matmul(rows, weights(g, "up", dtype, {kExperts, kHidden, kHidden}),
                                     chosen.reshape({kTokens * kTop}));
    const auto weighted =
        parts.cast(DType::kF32).reshape({kTokens, kTop, kHidden}) * softmax(scores).unsqueeze(-1);
    x = x + weighted.sum(1).cast(dtype);
  } else {
    const auto gate = linear(second, "gate", kInner), up = linear(second, "up", kInner);
    x = x + linear(swiglu(gate, up), "down", kHidden);
  }
  x.set_output("y");
  return g;
}
const std::vector<std::pair<DType, bool>> kLayers = {
    {DType::kF32, false}, {DType::kBF16, false}, {DType::kF16, false}, {DType::kF32, true}};

Program program_for(const Graph& graph) {
  return Candidates(graph, {}).program({}, plain_runtime());
}

TEST(ProgramVerifier, HoldsEveryElementOfALayerWhateverItsDType) {
  for (const auto& [dtype, is_mixture] : kLayers) {
    const auto graph = layer(dtype, is_mixture);
    ProgramVerifier verifier(graph);
    EXPECT_EQ(verifier.mistake_of(program_for(graph), plain_runtime()), std::nullopt);
    const auto [meaning, kernels, runs] = verifier.coverage();
    EXPECT_GT(meaning.elements, 0);
    EXPECT_EQ(meaning.bounded, meaning.elements) << name_of(dtype);
    EXPECT_GT(kernels.elements, runs.elements);
    EXPECT_EQ(kernels.bounded, kernels.elements) << name_of(dtype);
  }
}

// Calls something after a kernel of another runtime.
class Spoilt : public ReadyKernel {
 public:
  using Then = std::function<void(std::span<std::byte* const>)>;
  Spoilt(std::unique_ptr<ReadyKernel> kernel, Then then)
      : kernel_(std::move(kernel)), then_(std::move(then)) {}
  void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
    kernel_->run(symbols, operands);
    then_(operands);
  }

 private:
  std::unique_ptr<ReadyKernel> kernel_;
  Then then_;
};

TEST(ProgramVerifier, SeesOneElementThatAnyKernelLeavesOut) {
  for (const auto& [dtype, is_mixture] : kLayers) {
    const auto graph = layer(dtype, is_mixture);
    const auto program = program_for(graph);
    ProgramVerifier verifier(graph);
    for (std::size_t number = 0; number < program.kernels.size(); ++number) {
      const auto& spoilt = program.kernels[number];
      auto runtime = plain_runtime();
      runtime.name = fmt::format("spoils kernel {}", number);
      runtime.prepare = [&](const Kernel& kernel) -> std::unique_ptr<ReadyKernel> {
        auto made = plain_runtime().prepare(kernel);
        if (!(kernel.work == spoilt.work)) return made;
        return std::make_unique<Spoilt>(std::move(made), [&](std::span<std::byte* const> operands) {
          const auto& last = spoilt.operands.back();
          const auto size = size_of(last.dtype);
          const auto count = static_cast<std::size_t>(product(last.shape).at({}));
          std::memset(operands.back() + (count - 1) * size, 0, size);
        });
      };
      EXPECT_NE(verifier.mistake_of(program, runtime), std::nullopt)
          << name_of(dtype) << ", kernel " << number << ": " << kind_of(spoilt);
    }
  }
}

// What a wrong rule would make: kernels that are computed as they say, and say something else.
TEST(ProgramVerifier, SeesKernelsThatMeanSomethingElse) {
  int changes = 0;
  for (const auto& [dtype, is_mixture] : kLayers) {
    const auto graph = layer(dtype, is_mixture);
    const auto program = program_for(graph);
    ProgramVerifier verifier(graph);
    for (std::size_t number = 0; number < program.kernels.size(); ++number) {
      auto wrong = program;
      auto& work = wrong.kernels[number].work;
      if (auto* attention = std::get_if<Attention>(&work)) {
        attention->scale *= 1.001;
      } else if (auto* matmul = std::get_if<Matmul>(&work)) {
        // Without its last term.
        const auto rank = matmul->a.view.rank();
        matmul->a.view.shape[rank - 1] = matmul->a.view.shape[rank - 1] - 1;
        matmul->b.view.shape[rank - 2] = matmul->b.view.shape[rank - 2] - 1;
      } else if (auto* region = std::get_if<Region>(&work)) {
        const auto constant = std::ranges::find_if(region->values, [](const Region::Value& value) {
          // A softmax less any multiple of its greatest score is the same softmax: not ±1.
          const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
          return value.op == Op::kConst && value.dtype == DType::kF32 && std::isfinite(x) &&
                 std::abs(x) != 1;
        });
        if (constant == region->values.end()) continue;
        constant->bits = bits_of(constant->dtype, 0.123);
      } else {
        continue;
      }
      ++changes;
      EXPECT_NE(verifier.mistake_of(wrong, plain_runtime()), std::nullopt)
          << name_of(dtype) << ", kernel " << number << ": " << kind_of(wrong.kernels[number]);
    }
  }
  EXPECT_GT(changes, 30);
}

// A kernel that changes what an earlier one wrote and a later one reads.
TEST(ProgramVerifier, SeesWhatChangesBehindAKernelsBack) {
  Graph g;
  const auto x = GraphTensor::input(g, "x", DType::kF32, {8});
  const auto early = exp(x);
  (early * sqrt(early + early.sum(0, true))).set_output("y");
  CompileOptions options;
  options.disabled = {"fusion"};
  const auto program = Candidates(g, options).program({}, plain_runtime());
  ASSERT_GT(program.steps.size(), 3U);
  std::byte* early_elements = nullptr;  // of the second step, exp2's
  int calls = 0;
  auto runtime = plain_runtime();
  runtime.prepare = [&](const Kernel& kernel) -> std::unique_ptr<ReadyKernel> {
    return std::make_unique<Spoilt>(plain_runtime().prepare(kernel),
                                    [&](std::span<std::byte* const> operands) {
                                      if (++calls == 2) early_elements = operands.back();
                                      if (calls == 3)
                                        *early_elements ^= std::byte{1};  // a last place
                                    });
  };
  Executor executor(program, runtime, {.canaries = true});
  Tensor given(DType::kF32, Shape({8}));
  for (auto& value : given.as<float>()) value = 0.5F;
  try {
    run_program(executor, {{"x", given.view()}}, {});
    FAIL() << "nothing was seen";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("overwrote"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace assay::compiler
