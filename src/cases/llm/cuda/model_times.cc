// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// model_cuda_times FAMILY SIZE [CONTEXT] [PROMPT]: what a model's default program takes on this
// GPU: until it is ready, a prompt, tokens one by one, each kernel by itself, and tokens without
// it: what it really adds where kernels overlap. Weights are a few random numbers again and again,
// made there; what the model says means nothing, what it costs does.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "base/cache_folder.h"
#include "base/clock.h"
#include "base/philox.h"
#include "compiler/choose/compile.h"
#include "compiler/cuda/cuda_runtime.h"
#include "compiler/show/show_program.h"
#include "kernels/cuda/device.h"
#include "models/families/model_graph.h"
#include "models/init/model_sizes.h"
#include "tensor/half.h"

namespace {

using namespace assay;            // NOLINT
using namespace assay::compiler;  // NOLINT

double seconds_since(std::int64_t begin) {
  return static_cast<double>(monotonic_ns() - begin) * 1e-9;
}
double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Numbers as large as weights are, 0.02 or so; f32 tables and norms about 1.
std::vector<std::byte> some_numbers(DType dtype, std::size_t count) {
  const Philox stream(11);
  std::vector<std::byte> bytes(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    const double x = (2 * unit_interval(stream[i]) - 1) * 0.035;
    if (dtype == DType::kBF16) {
      const BFloat16 value(x);
      std::memcpy(bytes.data() + 2 * i, &value, 2);
    } else if (dtype == DType::kF32) {
      const auto value = static_cast<float>(x);
      std::memcpy(bytes.data() + 4 * i, &value, 4);
    } else {
      const auto value = static_cast<std::int64_t>(i % 128);
      std::memcpy(bytes.data() + 8 * i, &value, 8);
    }
  }
  return bytes;
}

void run(int argc, char** argv) {
  const auto word = [&](int i, const char* otherwise) {
    return argc > i ? argv[i] : otherwise;  // NOLINT
  };
  const auto family = models::family_from_name(word(1, "llama"));
  const std::string size = word(2, "8b");
  models::GraphLimits limits;
  limits.context = std::strtoll(word(3, "2560"), nullptr, 10);
  const auto prompt = std::strtoll(word(4, "21"), nullptr, 10);
  limits.chunk = std::max<std::int64_t>(prompt, 1);
  const auto config =
      models::model_config_from_json(models::config_of_size(family, size, "bfloat16"), "the size");
  const auto weights = models::ModelWeights::of_shapes(config, DType::kBF16);

  auto begin = monotonic_ns();
  const auto graph = models::model_graph(config, weights, limits);
  auto program = compile_default(graph, options_from_environment());
  fmt::print("{} steps, {} kernels, compiled in {:.2f} s\n", program.steps.size(),
             program.kernels.size(), seconds_since(begin));
  begin = monotonic_ns();
  const auto runtime = cuda::cuda_runtime({.cache = cache_folder() + "/cubins"});
  fmt::print("runtime {:.2f} s\n", seconds_since(begin));
  begin = monotonic_ns();
  Executor executor(std::move(program), runtime);
  fmt::print("kernels ready in {:.2f} s\n", seconds_since(begin));
  std::fflush(stdout);

  begin = monotonic_ns();
  std::map<DType, std::vector<std::byte>> numbers;
  std::vector<std::shared_ptr<std::byte>> stored;
  std::vector<std::byte*> outer;
  double weight_bytes = 0;
  const Bindings most = {{"s", limits.chunk}, {"p", limits.context - 1}};
  for (const auto& buffer : executor.program().buffers) {
    if (buffer.kind == Buffer::Kind::kTemporary) continue;
    const auto bytes =
        product(buffer.shape).at(most) * static_cast<std::int64_t>(size_of(buffer.dtype));
    stored.push_back(runtime.store->allocate(bytes));
    outer.push_back(stored.back().get());
    if (buffer.kind == Buffer::Kind::kOutput) continue;
    if (weights.contains(buffer.name)) weight_bytes += static_cast<double>(bytes);
    auto& some = numbers[buffer.dtype];
    if (some.empty()) some = some_numbers(buffer.dtype, std::size_t{1} << 20);
    const auto first = std::min(bytes, std::ssize(some));
    runtime.store->put(outer.back(), some.data(), first);
    runtime.store->wait();
    for (auto at = first; at < bytes; at += std::min(at, bytes - at)) {
      kernels::cuda::check(
          cudaMemcpy(outer.back() + at, outer.back(),
                     static_cast<std::size_t>(std::min(at, bytes - at)), cudaMemcpyDeviceToDevice),
          "copying on the device");
    }
  }
  kernels::cuda::wait_for_device();
  runtime.store->wait();
  fmt::print("{:.2f} GB of weights there after {:.2f} s\n", weight_bytes * 1e-9,
             seconds_since(begin));

  const auto timed = [&](const Bindings& symbols, int calls) {
    std::vector<double> all;
    for (int i = 0; i < calls; ++i) {
      runtime.store->wait();
      const auto start = monotonic_ns();
      executor.run_there(symbols, outer);
      runtime.store->wait();
      all.push_back(seconds_since(start));
    }
    return all;
  };
  const auto first = timed({{"s", prompt}, {"p", 0}}, 12);
  fmt::print("prompt of {}: first {:.3f} ms, then {:.3f} ms\n", prompt, first[0] * 1e3,
             median({first.begin() + 2, first.end()}) * 1e3);
  // Token after token, without waiting between them: what a token costs.
  const auto tokens_of = [&](Executor& those, int calls) {
    const auto chain = [&](std::int64_t count) {
      runtime.store->wait();
      const auto start = monotonic_ns();
      for (std::int64_t i = 0; i < count; ++i)
        those.run_there({{"s", 1}, {"p", prompt + i}}, outer);
      runtime.store->wait();
      return seconds_since(start) / static_cast<double>(count);
    };
    chain(8);
    std::vector<double> all;
    for (int i = 0; i < calls; ++i) all.push_back(chain(32));
    return all;
  };
  const auto tokens = tokens_of(executor, 9);
  const auto token = median(tokens);
  fmt::print("token {:.4f} ms ({:.4f} to {:.4f}), weights at {:.2f} TB/s\n", token * 1e3,
             *std::ranges::min_element(tokens) * 1e3, *std::ranges::max_element(tokens) * 1e3,
             weight_bytes / token * 1e-12);

  for (const auto& symbols :
       {Bindings{{"s", 1}, {"p", prompt}}, Bindings{{"s", prompt}, {"p", 0}}}) {
    ProgramFacts facts;
    facts.symbols = symbols;
    facts.units = executor.kernel_units(symbols);
    std::vector<double> sums(executor.program().steps.size());
    constexpr int kCalls = 5;
    for (int i = 0; i <= kCalls; ++i) {
      if (i == 1) std::ranges::fill(sums, 0);
      executor.run_timed_there(symbols, outer, sums);
    }
    for (auto& sum : sums) sum /= kCalls;
    facts.step_seconds = sums;
    fmt::print("{}\n", explained(executor.program(), facts));
    std::fflush(stdout);
  }
  for (std::uint32_t kernel = 0; kernel < executor.program().kernels.size(); ++kernel) {
    auto without = executor.program();
    const auto left =
        std::erase_if(without.steps, [&](const Step& s) { return s.kernel == kernel; });
    Executor shorter(std::move(without), runtime);
    fmt::print("token without kernel {:2} ({} times): {:+.1f} us\n", kernel, left,
               (median(tokens_of(shorter, 3)) - token) * 1e6);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception& e) {
    std::printf("FAILED: %s\n", e.what());
    return 1;
  }
}
