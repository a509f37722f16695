// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/blocking.h"

#include <algorithm>
#include <cmath>

namespace assay::kernels {
namespace {

std::int64_t round_up(std::int64_t x, std::int64_t to) { return divide_up(x, to) * to; }

// Every block reads and writes C once; this many terms hide that, more would crowd the caches.
constexpr std::int64_t kMostTerms = 512;

}  // namespace

Blocking blocking_for(const CacheSizes& caches, std::int64_t m, std::int64_t k, std::int64_t n,
                      std::int64_t size, std::int64_t left_width, std::int64_t right_width,
                      std::int64_t most_terms) {
  // Blocks shorter than √k/4 would be more than 4·√k, and adding up their sums would round more
  // often than the sums themselves.
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(k)));
  const std::int64_t fitting = std::min(kMostTerms, caches.l1 / 2 / (left_width * size));
  const std::int64_t most = std::max<std::int64_t>(1, most_terms);
  const std::int64_t limit = std::min(most, std::max({fitting, root / 4, std::int64_t{32}}));
  const std::int64_t blocks = std::max<std::int64_t>(1, divide_up(k, limit));
  Blocking b;
  // Whole blocks of the transposition, where that fits.
  b.terms = std::min({limit, std::max<std::int64_t>(1, k), round_up(divide_up(k, blocks), 4)});
  b.terms = std::max<std::int64_t>(1, b.terms);
  b.right_panels = std::max<std::int64_t>(1, caches.l2 / 4 / (right_width * b.terms * size));
  const std::int64_t rows = std::max(caches.packed / (b.terms * size), left_width);
  const std::int64_t columns = std::max(caches.packed / (b.terms * size), right_width);
  b.rows = std::clamp<std::int64_t>(m, 1, rows);
  b.columns = std::clamp<std::int64_t>(n, 1, columns);
  return b;
}

std::int64_t terms_for_roundings(std::int64_t k, double roundings, std::int64_t limit) {
  const auto count = [k](std::int64_t b) { return static_cast<double>(b + divide_up(k, b)); };
  if (k <= 1) return 1;
  // b + ⌈k/b⌉ falls until √k and grows after it.
  std::int64_t best = std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(k))));
  best = std::min(best, std::max<std::int64_t>(1, limit));
  while (best < limit && count(best + 1) <= roundings) ++best;
  return best;
}

ThreadGrid thread_grid(int threads, std::int64_t left_panels, std::int64_t right_panels) {
  ThreadGrid best{1, threads};
  std::int64_t least = -1;
  for (int left = 1; left <= threads; ++left) {
    if (threads % left != 0) continue;
    const int right = threads / left;
    const std::int64_t rows = divide_up(left_panels, left),
                       columns = divide_up(right_panels, right);
    const std::int64_t cost = rows * columns + rows + columns;
    if (least < 0 || cost < least) {
      least = cost;
      best = {left, right};
    }
  }
  return best;
}

Range share(std::int64_t size, int index, int count) {
  const std::int64_t each = size / count, rest = size % count;
  const std::int64_t begin = index * each + std::min<std::int64_t>(index, rest);
  return {begin, begin + each + (index < rest ? 1 : 0)};
}

}  // namespace assay::kernels
