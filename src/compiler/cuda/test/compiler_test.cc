// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The compiler's programs on a device: kernels of every kind beside plain loops, then whole
// programs of random graphs beside the interpreter, with guards around everything.
// `compiler_cuda_test small [kernels|programs]` is short enough for compute-sanitizer,
// `compiler_cuda_test programs FIRST COUNT` tries more graphs. Status 1: something is wrong.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/cache_folder.h"
#include "base/clock.h"
#include "compiler/choose/search.h"
#include "compiler/cuda/cuda_runtime.h"
#include "compiler/cuda/testing/trial_kernels.h"
#include "compiler/testing/random_graph.h"
#include "kernels/cuda/device.h"

namespace assay::compiler::cuda {
namespace {

int failures = 0, checks = 0;

void expect_nothing(const std::string& mistake, const std::string& what) {
  ++checks;
  if (mistake.empty()) return;
  constexpr int kMostTold = 40;
  if (++failures <= kMostTold) std::puts(("FAILED " + what + ": " + mistake).c_str());
  std::fflush(stdout);
}

// What is thrown is a mistake as well; but for a device that is lost, on which nothing goes on.
template <typename Work>
std::string mistake_of_work(const Work& work) {
  try {
    return work();
  } catch (const kernels::cuda::DeviceError& e) {
    if (e.trouble() == kernels::cuda::Trouble::kLost) throw;
    return e.what();
  } catch (const std::exception& e) {
    return e.what();
  }
}

void try_kernels(const std::vector<TrialKernel>& trials, const Runtime& runtime,
                 std::size_t every) {
  for (auto trial : trials) {
    for (std::uint32_t variant = 0; variant < runtime.variants(trial.kernel); ++variant) {
      trial.kernel.variant = variant;
      for (std::size_t i = 0; i < trial.at.size(); i += every) {
        for (const bool turned : {false, true}) {
          const auto mistake =
              mistake_of_work([&] { return mistake_of(trial, runtime, trial.at[i], turned); });
          expect_nothing(mistake, fmt::format("{}, variant {}, values {}{}", trial.what, variant, i,
                                              turned ? ", turned" : ""));
        }
      }
    }
  }
}

void try_programs(const Runtime& runtime, std::uint64_t first, std::uint64_t count,
                  int candidates) {
  for (auto seed = first; seed < first + count; ++seed) {
    const auto mistake = mistake_of_work([&] {
      if (seed % 5 == 4)
        return mistake_among_candidates(random_model_graph(seed), runtime, candidates, seed, {});
      const auto graph = seed % 5 == 3 ? random_graph_with_empty_axes(seed) : random_graph(seed);
      return mistake_among_candidates(graph, runtime, candidates, seed);
    });
    expect_nothing(mistake, fmt::format("graph {}", seed));
  }
}

int run(int argc, char** argv) {
  const auto word = [&](int i) { return argc > i ? std::string_view(argv[i]) : ""; };  // NOLINT
  const auto number = [&](int i) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : 0;  // NOLINT
  };
  const auto begin = monotonic_ns();
  const bool is_small = word(1) == "small";
  const auto told = [&](const char* what) {
    fmt::print("{}: {} checks, {} failures, {:.1f} s\n", what, checks, failures,
               static_cast<double>(monotonic_ns() - begin) * 1e-9);
    std::fflush(stdout);
  };
  CudaOptions options;
  options.cache = cache_folder() + "/cubins";
  const auto runtime = cuda_runtime(options);
  if (word(1) == "programs") {
    try_programs(runtime, number(2), number(3), 3);
  } else {
    const std::size_t every = is_small ? 4 : 1;
    if (word(2) != "programs") {
      try_kernels(trial_products(), runtime, every);
      told("products");
      try_kernels(trial_grouped(), runtime, every);
      try_kernels(trial_attentions(), runtime, every);
      told("attention");
      try_kernels(trial_scatters(), runtime, every);
      told("scatters");
      if (!is_small) {
        auto alone = options;
        alone.has_library = false;
        try_kernels(trial_products(), cuda_runtime(alone), every);
        told("products without a library");
      }
    }
    if (word(2) != "kernels") try_programs(runtime, 0, is_small ? 2 : 25, 2);
  }
  told("all");
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::compiler::cuda

int main(int argc, char** argv) {
  try {
    return assay::compiler::cuda::run(argc, argv);
  } catch (const std::exception& e) {
    std::printf("FAILED: %s\n", e.what());
    return 1;
  }
}
