// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which values a graph rounds to a narrow dtype, known by what they are in f64. A kernel may round
// less than its graph says, and often does; where it rounds to bf16 what the graph keeps in f32, a
// rule was wrong, and neither its meaning in f64 nor the kernel by itself would show it.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "tensor/tensor.h"

namespace assay::compiler {

class RoundedValues {
 public:
  // Node `id` of a graph has been computed, in f64 (widened.h).
  void add(const Graph& graph, NodeId id, const TensorView& wide);
  // When all were added.
  void sort();

  // For a node of a kernel's definition: nothing where the graph rounds such values to that dtype,
  // too, or where the node rounds to nothing narrow; else what is wrong.
  std::optional<std::string> mistake_in(const Graph& definition, NodeId id,
                                        const TensorView& wide) const;

 private:
  std::map<DType, std::vector<double>> values_;
  std::set<DType> has_unseen_products_;
};

}  // namespace assay::compiler
