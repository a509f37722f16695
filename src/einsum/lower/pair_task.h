// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A pairwise contraction that is to be lowered, and its labels in groups.

#include <cstdint>
#include <vector>

#include "einsum/labels/layout.h"
#include "tensor/dtype.h"

namespace assay::einsum {

// A step: layouts of the operands and of the result. Labels of one operand are in the result or in
// the other operand. An operand's extent for a label is the result's.
struct PairTask {
  Layout a, b, c;
  DType dtype = DType::kF64;
  int threads = 1;
};

// Groups of labels of a step.
struct Groups {
  std::vector<Label> batch, m, n, k;  // in the order of a (batch, m, k) and b (n)
};
Groups group_labels(const Layout& a, const Layout& b, const Layout& c);

std::int64_t extent_of(Label label, const PairTask& task);
// The labels of a group by falling stride in `like`.
std::vector<Label> in_order(const std::vector<Label>& group, const Layout& like);
// A tensor of the step's labels in this order, without gaps.
Layout dense_copy(const std::vector<Label>& order, const PairTask& task);

}  // namespace assay::einsum
