// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/choose/compile.h"
#include "compiler/graph/graph_tensor.h"
#include "compiler/verify/guarded_block.h"

namespace assay::compiler {
namespace {

using testing::HasSubstr;

TEST(GuardedBlock, EveryByteCounts) {
  for (const std::size_t bytes : {1, 7, 64, 65, 200}) {
    const std::vector<std::byte> zeros(bytes);
    const GuardedBlock block(bytes, zeros.data());
    const auto made = block.fingerprint(2);
    for (std::size_t i = 0; i < bytes; ++i) {
      block.data()[i] = std::byte{1};
      EXPECT_NE(block.fingerprint(2), made) << i;
      block.data()[i] = std::byte{0};
    }
    EXPECT_EQ(block.fingerprint(1), made);
    EXPECT_TRUE(block.is_whole());
    for (const std::ptrdiff_t beside : {std::ptrdiff_t{-1}, static_cast<std::ptrdiff_t>(bytes)}) {
      std::swap(block.data()[beside], block.data()[0]);
      EXPECT_FALSE(block.is_whole());
      std::swap(block.data()[beside], block.data()[0]);
    }
  }
}

// Runs what it is asked to, and something else after it.
Runtime meddling(std::function<void(const Kernel&, std::span<std::byte* const>)> after) {
  class Meddling : public ReadyKernel {
   public:
    Meddling(const Kernel& kernel,
             std::function<void(const Kernel&, std::span<std::byte* const>)> after)
        : kernel_(kernel), inner_(plain_runtime().prepare(kernel)), after_(std::move(after)) {}
    void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
      inner_->run(symbols, operands);
      after_(kernel_, operands);
    }

   private:
    Kernel kernel_;
    std::unique_ptr<ReadyKernel> inner_;
    std::function<void(const Kernel&, std::span<std::byte* const>)> after_;
  };
  auto runtime = plain_runtime();
  runtime.prepare = [after](const Kernel& kernel) {
    return std::make_unique<Meddling>(kernel, after);
  };
  return runtime;
}
Graph product_graph() {
  Graph g;
  const auto x = GraphTensor::input(g, "x", DType::kF32, {g.symbol("s", 1, 9), 6});
  (matmul(x, GraphTensor::input(g, "w", DType::kF32, {6, 5}))).set_output("y");
  return g;
}

TEST(Verifier, FindsInputsThatAreOverwritten) {
  const auto g = product_graph();
  const auto program = compile_default(g);
  Verifier verifier(g);
  EXPECT_EQ(verifier.mistake_of(program, plain_runtime()), std::nullopt);
  const auto runtime = meddling([](const Kernel& kernel, std::span<std::byte* const> operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!kernel.operands[i].is_written) *operands[i] ^= std::byte{1};
    }
  });
  // After an even number of calls it is as it was: there are five.
  EXPECT_THAT(verifier.mistake_of(program, runtime).value_or(""), HasSubstr("overwritten"));
  // What is expected is made anew.
  EXPECT_EQ(verifier.mistake_of(program, plain_runtime()), std::nullopt);
}

// Of programs one after the other, which have steps in common.
TEST(Verifier, FindsInputsThatALaterProgramOverwrites) {
  Graph g;
  const auto x = GraphTensor::input(g, "x", DType::kF32, {g.symbol("s", 1, 9), 6});
  const auto w = GraphTensor::input(g, "w", DType::kF32, {6, 5});
  (matmul(x, w) + matmul(x * x, w)).set_output("y");
  bool is_second = false;
  const auto runtime = meddling([&](const Kernel& kernel, std::span<std::byte* const> operands) {
    if (!is_second || !std::holds_alternative<Region>(kernel.work)) return;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool is_w = kernel.operands[i].shape == std::vector<Dim>{6, 5};
      if (is_w && !kernel.operands[i].is_written) *operands[i] ^= std::byte{1};
    }
  });
  Verifier verifier(g);
  EXPECT_EQ(verifier.mistake_of(compile_default(g), runtime), std::nullopt);
  is_second = true;
  const auto without_products = compile_default(g, {.disabled = {"matmul"}});
  EXPECT_THAT(verifier.mistake_of(without_products, runtime).value_or(""),
              HasSubstr("input 'w' was overwritten"));
}

TEST(Verifier, FindsWhatOneCallLeavesForTheNext) {
  const auto g = product_graph();
  int calls = 0;
  // The first result again, from the second call on.
  std::vector<std::byte> first;
  const auto runtime = meddling([&](const Kernel& kernel, std::span<std::byte* const> operands) {
    constexpr std::size_t kRow = 5 * sizeof(float);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!kernel.operands[i].is_written) continue;
      if (calls++ == 0) first.assign(operands[i], operands[i] + kRow);
      std::memcpy(operands[i], first.data(), kRow);
    }
  });
  EXPECT_THAT(Verifier(g).mistake_of(compile_default(g), runtime).value_or(""),
              HasSubstr("call 2"));
}

}  // namespace
}  // namespace assay::compiler
