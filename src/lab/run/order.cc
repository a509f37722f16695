// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/order.h"

#include <algorithm>
#include <numeric>

#include "lab/stats/random.h"

namespace assay::lab {
namespace {

// The first row of a Williams square: 0, 1, n−1, 2, n−2, …; row r adds r modulo n. Consecutive
// differences are all different, hence every ordered pair of neighbours occurs once in the square.
std::vector<int> zigzag(int n) {
  std::vector<int> row;
  for (int low = 0, high = n - 1; static_cast<int>(row.size()) < n;) {
    row.push_back(low++);
    if (static_cast<int>(row.size()) < n && row.size() > 1) row.push_back(high--);
  }
  return row;
}

std::vector<std::vector<int>> williams_block(int n) {
  std::vector<std::vector<int>> block;
  const auto first = zigzag(n);
  for (int r = 0; r < n; ++r) {
    auto row = first;
    for (int& item : row) item = (item + r) % n;
    block.push_back(row);
  }
  if (n % 2 == 1) {  // an odd square balances neighbours only together with its mirror image
    for (int r = 0; r < n; ++r) {
      auto row = block[static_cast<std::size_t>(r)];
      std::ranges::reverse(row);
      block.push_back(row);
    }
  }
  return block;
}

}  // namespace

std::vector<std::vector<int>> balanced_order(int items, int rounds, std::uint64_t seed) {
  std::vector<std::vector<int>> order;
  RandomStream random(seed, "order");
  while (items > 0 && static_cast<int>(order.size()) < rounds) {
    std::vector<int> labels(static_cast<std::size_t>(items));
    std::iota(labels.begin(), labels.end(), 0);
    shuffle(std::span(labels), random);
    auto block = williams_block(items);
    shuffle(std::span(block), random);  // the rows of a block may come in any order
    for (auto& row : block) {
      if (static_cast<int>(order.size()) == rounds) break;
      for (int& item : row) item = labels[static_cast<std::size_t>(item)];
      order.push_back(row);
    }
  }
  order.resize(static_cast<std::size_t>(rounds));
  return order;
}

}  // namespace assay::lab
