// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The four groups of labels as loops of a product whose panels are packed from the tensors. The
// product writes a row-major matrix, so what is to be found is one in C: else the result goes into
// a matrix of its own, which is unpacked.
#include "einsum/lower/gett_form.h"

namespace assay::einsum {
namespace {

// Loops over a group in this order, fused where all tensors walk two of them as one. `left` and
// `right` stand for a and b.
std::vector<Loop> fused_group(const std::vector<Label>& order, const Layout& left,
                              const Layout& right, const Layout& result) {
  std::vector<Loop> loops;
  for (const Label l : order) {
    const auto in = [&](const Layout& tensor) {
      const Mode* mode = find_mode(tensor, l);
      return mode == nullptr ? Mode{} : *mode;
    };
    const Loop loop{std::max(in(left).extent, in(right).extent), in(left).stride, in(right).stride,
                    in(result).stride};
    if (!loops.empty() && loops.back().a == loop.a * loop.extent &&
        loops.back().b == loop.b * loop.extent && loops.back().c == loop.c * loop.extent) {
      loops.back() = {loops.back().extent * loop.extent, loop.a, loop.b, loop.c};
    } else {
      loops.push_back(loop);
    }
  }
  return loops;
}

// Whether the result has these loops as one index of a matrix, neighbours `step` apart (0: any).
bool is_one_index(const std::vector<Loop>& loops, std::int64_t step) {
  for (std::size_t i = 0; i + 1 < loops.size(); ++i) {
    if (loops[i].c != loops[i + 1].c * loops[i + 1].extent) return false;
  }
  return step == 0 || loops.back().c == step;
}

}  // namespace

std::vector<GettChoice> gett_forms(const PairTask& task, const Groups& groups) {
  std::vector<GettChoice> found;
  if (groups.m.empty() || groups.n.empty()) return found;
  for (const bool swapped : {false, true}) {
    const Layout &left = swapped ? task.b : task.a, &right = swapped ? task.a : task.b;
    const auto &rows = swapped ? groups.n : groups.m, &columns = swapped ? groups.m : groups.n;
    const auto add = [&](std::vector<Loop> m, std::vector<Loop> n, const Layout& product) {
      const Layout& result = product.empty() ? task.c : product;
      found.push_back(
          {{swapped, fused_group(in_order(groups.batch, result), left, right, result), std::move(m),
            std::move(n), fused_group(in_order(groups.k, left), left, right, result)},
           product});
    };
    auto m = fused_group(in_order(rows, task.c), left, right, task.c);
    auto n = fused_group(in_order(columns, task.c), left, right, task.c);
    const auto height = iterations(m), width = iterations(n);
    if (is_one_index(m, 0) && is_one_index(n, 1)) add(std::move(m), std::move(n), {});
    // Few columns leave tiles half empty: then only the other way round, if that has more.
    constexpr std::int64_t kFewColumns = 32;
    if (width < kFewColumns && (swapped || height >= kFewColumns)) continue;
    auto order = in_order(groups.batch, task.c);
    for (const auto& group : {in_order(rows, left), in_order(columns, right)}) {
      order.insert(order.end(), group.begin(), group.end());
    }
    const Layout product = dense_copy(order, task);
    add(fused_group(in_order(rows, left), left, right, product),
        fused_group(in_order(columns, right), left, right, product), product);
  }
  return found;
}

}  // namespace assay::einsum
