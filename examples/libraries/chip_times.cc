// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// assay::chip: how long a matrix product takes on a chip, how long an all-reduce takes between
// eight of them, and what no algorithm could beat.
#include <cstdio>
#include <string>

#include "chip/collective.h"
#include "chip/simulate.h"

namespace chip = assay::chip;

int main() {
  // Every number of the hardware comes from a file; this one is built in (see examples/chip).
  chip::Topology topology = chip::default_topology();
  for (const std::int64_t n : {256, 512, 1024}) {
    const auto product = chip::simulate_gemm({.shape = {n, n, n}}, topology);
    std::printf("matmul %4d^3: %8.1f us, at least %8.1f us\n", static_cast<int>(n),
                1e6 * chip::to_seconds(product.metrics.window.length()),
                1e6 * chip::to_seconds(product.bounds.best()));
  }
  // Few large messages or many small ones: which algorithm wins depends on the size.
  topology.network = chip::parse_network("fully_connected", 8, topology.network);
  for (const std::int64_t bytes : {4 << 10, 4 << 20}) {
    for (const auto algorithm : {chip::Algorithm::kRing, chip::Algorithm::kRecursiveDoubling}) {
      const auto reduced =
          chip::simulate_collective({.algorithm = algorithm, .bytes = bytes}, topology);
      std::printf("all-reduce of %7lld bytes, %-18s: %7.2f us, at least %7.2f us, sums %s\n",
                  static_cast<long long>(bytes), std::string(chip::name_of(algorithm)).c_str(),
                  1e6 * chip::to_seconds(reduced.time), 1e6 * chip::to_seconds(reduced.bound),
                  reduced.verified ? "right" : "unchecked");
    }
  }
}
