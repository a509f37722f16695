// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/mutation.h"

namespace assay::compiler {

Genome mutated(Genome genome, const Candidates::Freedom& freedom, const Below& below) {
  const auto changes = 1 + below(3);
  for (std::size_t i = 0; i < changes; ++i) {
    switch (below(6)) {
      case 0:
      case 1: {
        if (freedom.options.empty()) break;
        auto at = freedom.options.begin();
        std::advance(at, below(freedom.options.size()));
        genome.options[at->first] = static_cast<std::uint32_t>(below(at->second));
        if (genome.options[at->first] == 0) genome.options.erase(at->first);
        break;
      }
      case 2: {
        if (freedom.nodes.empty()) break;
        const auto node = freedom.nodes[below(freedom.nodes.size())];
        if (!genome.kept.insert(node).second) genome.kept.erase(node);
        break;
      }
      case 3:
        (below(2) == 0 ? genome.epilogues : genome.shares) ^= true;
        break;
      default: {
        if (freedom.kernels.empty()) break;
        const auto& [kernel, count] = freedom.kernels[below(freedom.kernels.size())];
        genome.variants[kernel] = static_cast<std::uint32_t>(below(count));
        if (genome.variants[kernel] == 0) genome.variants.erase(kernel);
      }
    }
  }
  return genome;
}

}  // namespace assay::compiler
