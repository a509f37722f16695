// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// compiler_sweep [GRAPHS] [CANDIDATES] [FIRST] [plain|cpu] [small|empty|models]: random graphs, and
// for each of them that many programs, held to the interpreter. Says what is wrong and exits 1;
// prints what was done. Without a kind every tenth graph is one of models' sizes and operations.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "compiler/choose/search.h"
#include "compiler/cpu/cpu_runtime.h"
#include "compiler/testing/random_graph.h"

int main(int argc, char** argv) {
  using namespace assay;            // NOLINT
  using namespace assay::compiler;  // NOLINT
  const auto number = [&](int i, long otherwise) {
    return argc > i ? std::strtol(argv[i], nullptr, 10) : otherwise;  // NOLINT
  };
  const auto graphs = number(1, 10'000), count = number(2, 20), first = number(3, 0);
  const bool is_plain = argc <= 4 || std::string_view(argv[4]) == "plain";  // NOLINT
  const std::string_view kind = argc > 5 ? argv[5] : "";                    // NOLINT
  const auto runtime = is_plain ? plain_runtime() : cpu_runtime(2);
  const auto begin = monotonic_ns();
  int wrong = 0;
  constexpr long kToldEvery = 500;
  for (long i = first; i < first + graphs; ++i) {
    if (i > first && (i - first) % kToldEvery == 0) {
      fmt::print(stderr, "{} of {} graphs, {} wrong, {:.0f} s\n", i - first, graphs, wrong,
                 static_cast<double>(monotonic_ns() - begin) * 1e-9);
    }
    const auto seed = static_cast<std::uint64_t>(i);
    std::string mistake;
    try {
      const auto tries = static_cast<int>(count);
      if (kind == "models" || (kind.empty() && i % 10 == 9)) {
        mistake = mistake_among_candidates(random_model_graph(seed), runtime, tries, seed, {});
      } else {
        const auto graph =
            kind == "empty" ? random_graph_with_empty_axes(seed) : random_graph(seed);
        mistake = mistake_among_candidates(graph, runtime, tries, seed);
      }
    } catch (const std::exception& e) {
      mistake = e.what();
    }
    if (mistake.empty()) continue;
    fmt::print("graph {}: {}\n", i, mistake);
    std::fflush(stdout);
    if (++wrong == 20) break;
  }
  fmt::print("{} graphs x {} candidates ({}), {} wrong, {:.1f} s\n", graphs, count, runtime.name,
             wrong, static_cast<double>(monotonic_ns() - begin) * 1e-9);
  return wrong == 0 ? 0 : 1;
}
