// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/widened.h"

#include <bit>

#include "compiler/graph/graph_tensor.h"
#include "tensor/view.h"

namespace assay::compiler {
namespace {

double constant_value(const Node& node) {
  return value_as_double(TensorView(node.dtype, &node.bits, Shape({})), 0);
}

}  // namespace

Graph widened(const Graph& graph, const std::set<std::string>& wide_inputs) {
  return widened_with_originals(graph, wide_inputs).graph;
}

WidenedGraph widened_with_originals(const Graph& graph, const std::set<std::string>& wide_inputs) {
  Graph wide;
  for (const auto& [name, interval] : graph.symbols()) {
    wide.symbol(name, interval.low, interval.high);
  }
  std::vector<NodeId> numbers;
  for (NodeId id = 0; id < graph.size(); ++id) {
    auto node = graph.node(id);
    for (auto& operand : node.operands) operand.node = numbers.at(operand.node);
    if (!is_floating(node.dtype)) {
      numbers.push_back(wide.add(std::move(node)));
      continue;
    }
    if (node.op == Op::kInput) {
      if (wide_inputs.contains(node.name)) node.dtype = DType::kF64;
      const auto given = wide.add(std::move(node));
      numbers.push_back(GraphTensor::of_node(wide, given).cast(DType::kF64).node());
      continue;
    }
    if (node.op == Op::kConst) node.bits = std::bit_cast<std::uint64_t>(constant_value(node));
    node.dtype = DType::kF64;
    numbers.push_back(wide.add(std::move(node)));
  }
  for (const auto& output : graph.outputs()) {
    wide.set_output(output.name, numbers.at(output.node));
  }
  std::vector<std::vector<NodeId>> originals(wide.size());
  for (NodeId id = 0; id < graph.size(); ++id) originals[numbers[id]].push_back(id);
  return {std::move(wide), std::move(originals)};
}

}  // namespace assay::compiler
