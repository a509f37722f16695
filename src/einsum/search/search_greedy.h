// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "einsum/search/search.h"

namespace assay::einsum {

// One run of the greedy search: the pair with the least |result| − alpha(|a| + |b|) is contracted
// next. Above temperature 0 the choice is random, with Boltzmann weights. Gives up, returning
// nothing, when the cost reaches `bound`.
struct GreedyOptions {
  double alpha = 1, temperature = 0;
  std::uint64_t seed = 0;
};
std::optional<Tree> search_greedy(const Network& network, const SearchOptions& options,
                                  const GreedyOptions& greedy, double bound);
// The plain greedy order, and those of options.tries − 1 random runs that were better than all
// before them.
std::vector<Tree> search_random_greedy(const Network& network, const SearchOptions& options);

}  // namespace assay::einsum
