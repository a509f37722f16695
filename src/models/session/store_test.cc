// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Sessions whose memory is elsewhere: a store that lives here, and that says so where something of
// this process comes to it, or something of it is not reached through it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/error.h"
#include "compiler/choose/timing.h"
#include "compiler/cpu/cpu_runtime.h"
#include "models/session/generate.h"
#include "models/testing/model_folder.h"

namespace assay::models {
namespace {

class HeapStore final : public compiler::Store {
 public:
  std::shared_ptr<std::byte> allocate(std::int64_t bytes) override {
    const auto size = static_cast<std::size_t>(bytes) + 64;
    auto* at = static_cast<std::byte*>(std::aligned_alloc(256, (size + 255) / 256 * 256));
    std::memset(at, 0xff, size);
    blocks_[at] = bytes;
    return {at, [this](std::byte* gone) {
              blocks_.erase(gone);
              std::free(gone);  // NOLINT(cppcoreguidelines-no-malloc)
            }};
  }
  void put(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    check(is_mine(to) && !is_mine(from), "from there to here");
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void take(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    check(!is_mine(to) && is_mine(from), "from here to there");
    taken += bytes;
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void wait() override {}
  std::int64_t greatest(const std::byte* values, std::int64_t count) override {
    check(is_mine(values), "what is here");
    const auto* all = reinterpret_cast<const float*>(values);
    for (std::int64_t i = 0; i < count; ++i) {
      if (std::isnan(all[i]) || all[i] == INFINITY) return -1 - i;
    }
    return std::max_element(all, all + count) - all;
  }
  bool is_mine(const std::byte* at) const {
    const auto next = blocks_.upper_bound(at);
    if (next == blocks_.begin()) return false;
    const auto& [begin, bytes] = *std::prev(next);
    return at < begin + std::max<std::int64_t>(bytes, 1);
  }
  std::size_t blocks() const { return blocks_.size(); }
  std::int64_t taken = 0;

 private:
  std::map<const std::byte*, std::int64_t> blocks_;
};

// The processor's kernels on operands in the store.
class HeapProgram final : public compiler::RemoteProgram {
 public:
  HeapProgram(const compiler::Program& program, const HeapStore& store)
      : executor_(program, compiler::cpu_runtime(2)), store_(store) {}
  void run(const compiler::Bindings& symbols, std::span<std::byte* const> outer,
           bool is_here) override {
    check(!is_here, "a session's memory is there");
    for (const auto* at : outer) check(store_.is_mine(at), "an operand that is there");
    executor_.run(symbols, outer);
  }
  void run_timed(const compiler::Bindings& symbols, std::span<std::byte* const> outer, bool is_here,
                 std::vector<double>& seconds) override {
    run(symbols, outer, is_here);
    for (auto& step : seconds) step += 1;
  }
  std::vector<std::string> units(const compiler::Bindings& symbols) override {
    return executor_.kernel_units(symbols);
  }
  std::int64_t arena_bytes() const override { return executor_.arena_bytes(); }

 private:
  compiler::Executor executor_;
  const HeapStore& store_;
};

compiler::Runtime heap_runtime(const std::shared_ptr<HeapStore>& store) {
  auto runtime = compiler::cpu_runtime(2);
  runtime.store = store;
  runtime.remote = [store](const compiler::Program& program, const compiler::ExecutorOptions&) {
    return std::make_unique<HeapProgram>(program, *store);
  };
  return runtime;
}

TEST(StoredSession, SaysWhatOneInThisProcessSays) {
  const ModelFolder folder(Family::kQwen3);
  const LoadedModel model(folder.path());
  const GraphLimits limits{.context = 64, .chunk = 16};
  const auto prompt = some_tokens(model.config.vocab, 23);
  GenerateOptions options;
  options.max_tokens = 12;
  auto here = model.session(limits, compiler::cpu_runtime(2));
  const auto expected = generate(here, prompt, options);

  const auto store = std::make_shared<HeapStore>();
  {
    auto there = model.session(limits, heap_runtime(store));
    EXPECT_EQ(generate(there, prompt, options).tokens, expected.tokens);
    // Greedy tokens are found where the logits are.
    EXPECT_EQ(store->taken, 0);
    there.reset();
    here.reset();
    const auto a = there.extend(prompt), b = here.extend(prompt);
    EXPECT_TRUE(std::ranges::equal(a, b));
    EXPECT_EQ(store->taken, static_cast<std::int64_t>(sizeof(float)) * model.config.vocab);
    EXPECT_EQ(there.cache_bytes(), here.cache_bytes());
    EXPECT_EQ(there.step_seconds(1, 5).front(), 1);
  }
  EXPECT_EQ(store->blocks(), 0U);
}

TEST(StoredSession, GivesAllLogits) {
  const ModelFolder folder(Family::kLlama);
  const LoadedModel model(folder.path());
  const GraphLimits limits{.context = 32, .chunk = 8, .all_logits = true};
  const auto prompt = some_tokens(model.config.vocab, 19);
  auto here = model.session(limits, compiler::cpu_runtime(2));
  auto there = model.session(limits, heap_runtime(std::make_shared<HeapStore>()));
  EXPECT_TRUE(std::ranges::equal(there.extend(prompt), here.extend(prompt)));
}

TEST(WeightsOfShapes, MakeTheGraphThatFilesMake) {
  for (const auto family : kAllFamilies) {
    const ModelFolder folder(family);
    const LoadedModel model(folder.path());
    const auto shapes = ModelWeights::of_shapes(model.config, model.weights.dtype());
    EXPECT_EQ(shapes.bytes(), model.weights.bytes()) << name_of(family);
    const GraphLimits limits{.context = 32, .chunk = 8};
    EXPECT_EQ(compiler::compile_default(model_graph(model.config, shapes, limits)),
              compiler::compile_default(model_graph(model.config, model.weights, limits)))
        << name_of(family);
  }
}

}  // namespace
}  // namespace assay::models
