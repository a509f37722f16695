// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/sum_of_products.h"

#include "compiler/graph/compose.h"

namespace assay::compiler {
namespace {

// A cast of all elements in their order that loses nothing.
bool is_plain_widening(const Graph& graph, const Node& node) {
  if (node.op != Op::kCast || !is_floating(node.dtype)) return false;
  const auto& [of, view] = node.operands[0];
  const auto& from = graph.node(of);
  return is_floating(from.dtype) && view.is_contiguous() && view.shape == from.shape &&
         (from.dtype == node.dtype || size_of(from.dtype) < size_of(node.dtype));
}

}  // namespace

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

std::vector<bool> casts_read_through(const Graph& graph, const std::vector<bool>& is_product) {
  std::vector<bool> all(graph.size());
  for (NodeId id = 0; id < graph.size(); ++id) all[id] = is_plain_widening(graph, graph.node(id));
  for (const auto& output : graph.outputs()) all[output.node] = false;
  for (auto id = static_cast<NodeId>(graph.size()); id-- > 0;) {
    const auto& node = graph.node(id);
    for (std::size_t k = 0; k < node.operands.size(); ++k) {
      const bool converts = is_product[id] || all[id] || (node.op == Op::kGather && k == 0);
      if (!converts) all[node.operands[k].node] = false;
    }
  }
  // From inputs on, with nothing else in between.
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!all[id]) continue;
    const auto of = graph.node(id).operands[0].node;
    all[id] = graph.node(of).op == Op::kInput || all[of];
  }
  return all;
}

}  // namespace assay::compiler
