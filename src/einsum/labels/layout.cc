// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/labels/layout.h"

#include <tuple>

namespace assay::einsum {

std::vector<Loop> fused_loops(std::vector<Loop> loops) {
  std::erase_if(loops, [](const Loop& l) { return l.extent == 1; });
  std::ranges::stable_sort(loops, std::greater{}, [](const Loop& l) {
    return std::tuple(l.c != 0, std::abs(l.c), std::abs(l.a) + std::abs(l.b));
  });
  std::vector<Loop> fused;
  for (const auto& loop : loops) {
    if (!fused.empty()) {
      Loop& outer = fused.back();
      const auto joins = [&](std::int64_t Loop::*stride) {
        return outer.*stride == loop.*stride * loop.extent;
      };
      if (joins(&Loop::a) && joins(&Loop::b) && joins(&Loop::c)) {
        outer = {outer.extent * loop.extent, loop.a, loop.b, loop.c};
        continue;
      }
    }
    fused.push_back(loop);
  }
  return fused;
}

std::vector<Loop> loops_over(const Layout& a, const Layout& b, const Layout& c) {
  std::vector<Loop> loops;
  LabelSet seen;
  for (const Layout* layout : {&c, &a, &b}) {
    for (const auto& mode : *layout) {
      if (seen.contains(mode.label)) continue;
      seen.insert(mode.label);
      const auto stride = [&](const Layout& in) {
        const Mode* found = find_mode(in, mode.label);
        return found == nullptr ? 0 : found->stride;
      };
      loops.push_back({mode.extent, stride(a), stride(b), stride(c)});
    }
  }
  return loops;
}

}  // namespace assay::einsum
