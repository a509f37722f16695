// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace assay::lab {

// The order of `items` in each of `rounds` rounds: Williams designs, in which every item stands at
// every position equally often and follows every other item equally often, so that neither drift
// nor what one attempt leaves behind favours anyone. A block is n rounds for even n, 2n for odd n;
// each block gets a fresh random relabelling. Deterministic in the seed.
std::vector<std::vector<int>> balanced_order(int items, int rounds, std::uint64_t seed);

}  // namespace assay::lab
