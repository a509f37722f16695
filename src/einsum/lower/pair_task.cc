// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/lower/pair_task.h"

#include <algorithm>

#include "base/error.h"

namespace assay::einsum {

Groups group_labels(const Layout& a, const Layout& b, const Layout& c) {
  Groups groups;
  for (const Label l : memory_order(a)) {
    const bool in_b = find_mode(b, l) != nullptr, in_c = find_mode(c, l) != nullptr;
    check(in_b || in_c, "labels of one operand only were summed before");
    (in_b ? (in_c ? groups.batch : groups.k) : groups.m).push_back(l);
  }
  for (const Label l : memory_order(b)) {
    if (find_mode(a, l) == nullptr) {
      check(find_mode(c, l) != nullptr, "labels of one operand only were summed before");
      groups.n.push_back(l);
    }
  }
  return groups;
}

std::int64_t extent_of(Label label, const PairTask& task) {
  const Mode* mode = find_mode(task.a, label);
  return (mode != nullptr ? mode : find_mode(task.b, label))->extent;
}

std::vector<Label> in_order(const std::vector<Label>& group, const Layout& like) {
  Layout part;
  for (const auto& mode : like) {
    if (std::ranges::count(group, mode.label) != 0) part.push_back(mode);
  }
  return memory_order(part);
}

Layout dense_copy(const std::vector<Label>& order, const PairTask& task) {
  std::vector<std::int64_t> extents(kMaxLabels, 1);
  for (const Label l : order) extents[static_cast<std::size_t>(l)] = extent_of(l, task);
  return dense_layout(order, extents);
}

}  // namespace assay::einsum
