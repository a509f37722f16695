// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/sum_of_products.h"

#include "compiler/graph/compose.h"

namespace assay::compiler {

double interpreted_elements(const Graph& graph, const Bindings& symbols) {
  double count = 0;
  const auto readers = reader_counts(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto& node = graph.node(id);
    const bool reduces = node.op == Op::kSum || node.op == Op::kMaxReduce;
    const auto& shape = reduces ? node.operands[0].view.shape : node.shape;
    double elements = 1;
    for (const auto& dim : shape) elements *= static_cast<double>(dim.at(symbols));
    // Products are computed where they are summed.
    if (sum_of_products(graph, id, readers)) elements = 0;
    count += elements;
  }
  return count;
}

std::vector<std::uint32_t> reader_counts(const Graph& graph) {
  std::vector<std::uint32_t> counts(graph.size());
  for (NodeId id = 0; id < graph.size(); ++id) {
    for (const auto& operand : graph.node(id).operands) ++counts[operand.node];
  }
  for (const auto& output : graph.outputs()) ++counts[output.node];
  return counts;
}

std::optional<SumOfProducts> sum_of_products(const Graph& graph, NodeId sum,
                                             const std::vector<std::uint32_t>& counts) {
  const auto& node = graph.node(sum);
  if (node.op != Op::kSum) return std::nullopt;
  const auto& of = node.operands[0];
  const auto& product = graph.node(of.node);
  if (product.op != Op::kMul || counts[of.node] != 1) return std::nullopt;
  const auto a = compose(of.view, product.operands[0].view, graph.symbols());
  const auto b = compose(of.view, product.operands[1].view, graph.symbols());
  if (!a || !b) return std::nullopt;
  return SumOfProducts{of.node, *a, *b};
}

}  // namespace assay::compiler
