// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// exp and log of every float, on every instruction set of this machine: fails beyond 1.1 ulp.
#include <cstdio>

#include "kernels/math/exp_log_check.h"
#include "kernels/targets.h"

int main() {
  using namespace assay::kernels;
  bool good = true;
  for (const InstructionSet& set : instruction_sets()) {
    const OnlyInstructionSet only(set);
    WorstErrors worst;
#pragma omp parallel for schedule(dynamic)
    for (int part = 0; part < 1024; ++part) {
      const std::uint64_t begin = static_cast<std::uint64_t>(part) << 22;
      const WorstErrors here = worst_errors(begin, begin + (1u << 22), 1);
#pragma omp critical
      {
        if (here.exp > worst.exp) worst.exp = here.exp, worst.exp_at = here.exp_at;
        if (here.log > worst.log) worst.log = here.log, worst.log_at = here.log_at;
      }
    }
    std::printf("%-7s exp %.4f ulp at %a, log %.4f ulp at %a\n", set.name.c_str(), worst.exp,
                static_cast<double>(worst.exp_at), worst.log, static_cast<double>(worst.log_at));
    std::fflush(stdout);
    good = good && worst.exp <= 1.1 && worst.log <= 1.1;
  }
  return good ? 0 : 1;
}
