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
    const auto program = program_for(graph);
    EXPECT_EQ(verifier.mistake_of(program, plain_runtime()), std::nullopt);
    const auto [meaning, kernels, runs, unheld, unseen] =
        verifier.coverage(program, plain_runtime());
    EXPECT_TRUE(unheld.empty() && unseen.empty());
    EXPECT_GT(meaning.elements, 0);
    EXPECT_EQ(meaning.bounded, meaning.elements) << name_of(dtype);
    EXPECT_GT(kernels.elements, runs.elements);
    // Not all of what infinities make.
    EXPECT_GT(3 * kernels.bounded, 2 * kernels.elements) << name_of(dtype);
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

// Behind value `number` of a region: rounded to `dtype` and back.
Region with_rounding(const Region& region, std::uint32_t number, DType dtype) {
  Region changed = region;
  auto narrow = region.values[number], wide = narrow;
  narrow.op = wide.op = Op::kCast;
  narrow.dtype = dtype;
  narrow.access = wide.access = {};
  narrow.values = {number};
  wide.values = {number + 1};
  changed.values.insert(changed.values.begin() + number + 1, {narrow, wide});
  const auto moved = [&](std::uint32_t& value) {
    if (value >= number) value += 2;
  };
  for (std::size_t i = number + 3; i < changed.values.size(); ++i) {
    std::ranges::for_each(changed.values[i].values, moved);
  }
  for (auto& store : changed.stores) moved(store.value);
  return changed;
}

// What bf16 models are built of: activations in bf16, all that happens between in f32.
Graph layer_computed_in_f32(DType dtype) {
  Graph g;
  const auto wide = [](const GraphTensor& x) { return x.cast(DType::kF32); };
  const auto weight = [&](const char* name, std::vector<Dim> shape) {
    return wide(weights(g, name, dtype, std::move(shape)));
  };
  const auto x = weights(g, "x", dtype, {kTokens, kHidden});
  const auto h = rms_norm(wide(x), weight("norm", {kHidden}), 1e-5).cast(dtype);
  const auto gate = matmul(wide(h), weight("gate", {kHidden, kInner}));
  const auto up = matmul(wide(h), weight("up", {kHidden, kInner}));
  const auto inner = swiglu(gate, up).cast(dtype);
  const auto down = matmul(wide(inner), weight("down", {kInner, kHidden}));
  (wide(x) + wide(down.cast(dtype))).cast(dtype).set_output("y");
  return g;
}

// In f64 such a program means what it should, and its kernels do what they say.
TEST(ProgramVerifier, SeesKernelsThatRoundWhatTheGraphDoesNot) {
  int changes = 0;
  for (const auto dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    const auto graph = layer_computed_in_f32(dtype);
    const auto program = program_for(graph);
    ProgramVerifier verifier(graph);
    EXPECT_EQ(verifier.mistake_of(program, plain_runtime()), std::nullopt);
    for (std::size_t number = 0; number < program.kernels.size(); ++number) {
      const auto& work = program.kernels[number].work;
      const auto* matmul = std::get_if<Matmul>(&work);
      const auto* region =
          matmul != nullptr && matmul->epilogue ? &*matmul->epilogue : std::get_if<Region>(&work);
      if (region == nullptr) continue;
      for (std::uint32_t i = 0; i < region->values.size(); ++i) {
        const auto& value = region->values[i];
        // What is rounded already, or is a constant that bf16 has, loses nothing.
        if (value.dtype != DType::kF32 || value.op == Op::kConst) continue;
        const auto is_rounded_anyway = [&](const Region::Value& user) {
          return std::ranges::find(user.values, i) == user.values.end() ||
                 (user.op == Op::kCast && user.dtype == DType::kBF16);
        };
        if (std::ranges::all_of(region->values, is_rounded_anyway)) continue;
        const bool was_narrow =
            value.op == Op::kCast && region->values[value.values[0]].dtype == dtype;
        if (was_narrow && dtype != DType::kF32) continue;
        auto wrong = program;
        auto changed = with_rounding(*region, i, DType::kBF16);
        if (matmul != nullptr)
          std::get<Matmul>(wrong.kernels[number].work).epilogue = std::move(changed);
        else
          wrong.kernels[number].work = std::move(changed);
        ++changes;
        EXPECT_NE(verifier.mistake_of(wrong, plain_runtime()), std::nullopt)
            << name_of(dtype) << ", kernel " << number << ", value " << i << ": "
            << name_of(value.op);
      }
    }
  }
  EXPECT_GT(changes, 40);
}

// Least values of symbols count, and each of them beside the greatest of others: one token behind
// many is a kernel's other path.
TEST(ProgramVerifier, SeesWhatIsWrongWithOneNewTokenOnly) {
  Graph g;
  const auto s = g.symbol("s", 1, 512), p = g.symbol("p", 0, 1000);
  const auto x = GraphTensor::input(g, "x", DType::kF32, {p + s, 8});
  (x.slice(0, p, p + s) * 3.0).set_output("y");
  const auto program = program_for(g);
  for (const bool behind_many : {false, true}) {
    auto runtime = plain_runtime();
    runtime.prepare = [&](const Kernel& kernel) -> std::unique_ptr<ReadyKernel> {
      class Decodes : public ReadyKernel {
       public:
        Decodes(std::unique_ptr<ReadyKernel> kernel, bool behind_many)
            : kernel_(std::move(kernel)), behind_many_(behind_many) {}
        void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
          kernel_->run(symbols, operands);
          const bool is_one = symbols.at("s") == 1 && (symbols.at("p") > 2) == behind_many_;
          if (is_one) std::memset(operands.back(), 0, 32);
        }

       private:
        std::unique_ptr<ReadyKernel> kernel_;
        bool behind_many_;
      };
      return std::make_unique<Decodes>(plain_runtime().prepare(kernel), behind_many);
    };
    EXPECT_NE(ProgramVerifier(g).mistake_of(program, runtime), std::nullopt) << behind_many;
  }
}

TEST(ProgramVerifier, LetsAStateBeThatStaysWhatItIs) {
  for (const auto dtype : {DType::kF32, DType::kBF16, DType::kF64, DType::kI64}) {
    Graph g;
    const auto state = GraphTensor::input(g, "state", dtype, {24});
    state.set_output("next", "state");
    (state + GraphTensor::input(g, "x", dtype, {24})).set_output("y");
    EXPECT_EQ(ProgramVerifier(g).mistake_of(program_for(g), plain_runtime()), std::nullopt);
  }
}

// A window that no trial is longer than could as well be missing.
TEST(ProgramVerifier, SeesAWindowThatIsMissing) {
  for (const std::int64_t window : {16, 64, 1024}) {
    Graph g;
    const auto s = g.symbol("s", 1, 512), p = g.symbol("p", 0, 4096);
    const auto heads = [&](const char* name, const Dim& rows) {
      return GraphTensor::input(g, name, DType::kF32, {2, rows, 8});
    };
    AttentionOptions options{.causal = true, .offset = p, .window = Dim(window)};
    attention(heads("q", s), heads("k", p + s), heads("v", p + s), options).set_output("y");
    const auto program = program_for(g);
    EXPECT_EQ(ProgramVerifier(g).mistake_of(program, plain_runtime()), std::nullopt);
    int changes = 0;
    for (const bool is_shorter : {true, false}) {
      auto wrong = program;
      for (auto& kernel : wrong.kernels) {
        auto* attention = std::get_if<Attention>(&kernel.work);
        if (attention == nullptr) continue;
        ++changes;
        attention->window = is_shorter ? std::optional(Dim(window - 1)) : std::nullopt;
      }
      EXPECT_NE(ProgramVerifier(g).mistake_of(wrong, plain_runtime()), std::nullopt) << window;
    }
    EXPECT_EQ(changes, 2);
  }
}

// Matrices too large to be interpreted with as many rows as runtimes take together.
TEST(ProgramVerifier, SeesWhatIsWrongWithManyRowsOfALargeProductOnly) {
  Graph g;
  const auto s = g.symbol("s", 1, 512);
  const auto x = GraphTensor::input(g, "x", DType::kF32, {s, 256});
  const auto y = matmul(x, GraphTensor::input(g, "w", DType::kF32, {512, 256}).transpose());
  (silu(y) * GraphTensor::input(g, "gate", DType::kF32, {s, 512})).set_output("y");
  const auto program = program_for(g);
  ASSERT_EQ(program.kernels.size(), 1U);
  VerifyOptions options;
  options.most_work = options.most_kernel_work = 1e6;
  EXPECT_EQ(ProgramVerifier(g, options).mistake_of(program, plain_runtime()), std::nullopt);
  for (const std::int64_t row : {0, 13, 40, 65, 100, 130}) {
    auto runtime = plain_runtime();
    runtime.prepare = [&](const Kernel& kernel) -> std::unique_ptr<ReadyKernel> {
      class ManyRows : public ReadyKernel {
       public:
        ManyRows(std::unique_ptr<ReadyKernel> kernel, std::int64_t row)
            : kernel_(std::move(kernel)), row_(row) {}
        void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
          kernel_->run(symbols, operands);
          // Of some rows a last element, of the others 70 in the middle.
          if (symbols.at("s") <= 100) return;
          const bool is_known = row_ % 65 == 0;
          std::memset(operands.back() + row_ * 512 * 4 + (is_known ? 2044 : 1000), 0,
                      is_known ? 4 : 280);
        }

       private:
        std::unique_ptr<ReadyKernel> kernel_;
        std::int64_t row_;
      };
      return std::make_unique<ManyRows>(plain_runtime().prepare(kernel), row);
    };
    EXPECT_NE(ProgramVerifier(g, options).mistake_of(program, runtime), std::nullopt) << row;
  }
}

// Indices run to the end of what they index.
TEST(ProgramVerifier, SeesWhatIsWrongWithLateRowsOnly) {
  constexpr std::int64_t kRows = 1000, kWide = 8, kCount = 40;
  Graph g;
  const auto table = GraphTensor::input(g, "table", DType::kF32, {kRows, kWide});
  rows(table, GraphTensor::input(g, "index", DType::kI64, {kCount})).set_output("y");
  const auto program = program_for(g);
  auto runtime = plain_runtime();
  runtime.prepare = [&](const Kernel& kernel) -> std::unique_ptr<ReadyKernel> {
    return std::make_unique<Spoilt>(
        plain_runtime().prepare(kernel), [&](std::span<std::byte* const> operands) {
          const auto is_index = [](const Kernel::Formal& formal) {
            return formal.dtype == DType::kI64;
          };
          const auto at = std::ranges::find_if(kernel.operands, is_index);
          if (at == kernel.operands.end()) return;
          std::int64_t index[kCount];
          std::memcpy(index, operands[static_cast<std::size_t>(at - kernel.operands.begin())],
                      sizeof index);
          for (std::int64_t i = 0; i < kCount; ++i) {
            if (index[i] > 100 && index[i] < kRows) {
              std::memset(operands.back() + i * kWide * 4, 0, kWide * 4);
            }
          }
        });
  };
  EXPECT_NE(ProgramVerifier(g).mistake_of(program, runtime), std::nullopt);
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
