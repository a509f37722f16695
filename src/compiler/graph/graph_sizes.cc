// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/graph_sizes.h"

#include "base/error.h"

namespace assay::compiler {

std::string described(const Graph& graph, NodeId id) {
  const auto& node = graph.node(id);
  return fmt::format("node {} ({}{}{} {} {})", id, name_of(node.op), node.name.empty() ? "" : " ",
                     node.name, name_of(node.dtype), to_string(node.shape));
}

double bytes_of(const Node& node, const Bindings& symbols) {
  auto bytes = static_cast<double>(size_of(node.dtype));
  for (const auto& dim : node.shape) bytes *= static_cast<double>(dim.at(symbols));
  return bytes;
}

double bytes_of_operands(const Graph& graph, const Bindings& symbols) {
  double all = 0;
  for (const auto id : graph.inputs()) all += bytes_of(graph.node(id), symbols);
  for (const auto& output : graph.outputs()) all += bytes_of(graph.node(output.node), symbols);
  return all;
}

void check_sizes(const Graph& graph, const Bindings& symbols) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto& node = graph.node(id);
    try {
      if (const double bytes = bytes_of(node, symbols); bytes >= 0x1p63) {
        fail("more bytes than 64 bits count: {:.4g}", bytes);
      }
      fixed(View::contiguous(node.shape), symbols, product(node.shape).at(symbols));
      for (const auto& [of, view] : node.operands) {
        fixed(view, symbols, product(graph.node(of).shape).at(symbols));
      }
    } catch (const UserError& e) {
      std::string where;
      for (const auto& [name, value] : symbols) {
        where += fmt::format("{}{} = {}", where.empty() ? ", at " : ", ", name, value);
      }
      fail("{}: {}{}", described(graph, id), e.what(), where);
    }
  }
}

}  // namespace assay::compiler
