// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/input_roles.h"

#include <algorithm>
#include <cmath>

#include "compiler/graph/dtypes.h"
#include "tensor/view.h"

namespace assay::compiler {
namespace {

bool is_root(Op op) { return op == Op::kSqrt || op == Op::kLog2; }

// Nodes that are not below 0 where what is under roots is not; NaN set aside.
std::vector<bool> never_negative(const Graph& graph) {
  std::vector<bool> never = under_roots(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto& node = graph.node(id);
    const auto of = [&](std::size_t i) { return never[node.operands[i].node]; };
    switch (node.op) {
      case Op::kInput:
        never[id] = never[id] || node.dtype == DType::kBool;
        break;
      case Op::kConst:
        never[id] = !(value_as_double(TensorView(node.dtype, &node.bits, Shape({})), 0) < 0);
        break;
      case Op::kExp2:
      case Op::kSqrt:
      case Op::kLess:
        never[id] = true;
        break;
      case Op::kMul:
        never[id] = (of(0) && of(1)) || node.operands[0] == node.operands[1];
        break;
      case Op::kMax:
        never[id] = of(0) || of(1);
        break;
      case Op::kAdd:
      case Op::kDiv:
        never[id] = of(0) && of(1);
        break;
      case Op::kSelect:
        never[id] = of(1) && of(2);
        break;
      case Op::kScatter:
        never[id] = of(0) && of(2);
        break;
      case Op::kMod:
        never[id] = of(1);
        break;
      case Op::kCast:
      case Op::kRecip:
      case Op::kSum:
      case Op::kMaxReduce:
      case Op::kGather:
        never[id] = of(0);
        break;
      case Op::kIota:
      case Op::kLog2:
      case Op::kSin:
        never[id] = false;
        break;
    }
  }
  return never;
}

}  // namespace

std::vector<bool> only_added(const Graph& graph) {
  std::vector<bool> added(graph.size(), true);
  for (std::size_t id = graph.size(); id-- > 0;) {
    const auto& node = graph.node(static_cast<NodeId>(id));
    for (const auto& operand : node.operands) {
      const bool is_fine = node.op == Op::kAdd || (node.op == Op::kCast && added[id]);
      added[operand.node] = added[operand.node] && is_fine;
    }
  }
  return added;
}

std::vector<bool> only_factors(const Graph& graph) {
  std::vector<bool> is_used(graph.size()), only_summed(graph.size(), true),
      factors(graph.size(), true);
  for (std::size_t id = graph.size(); id-- > 0;) {
    const auto& node = graph.node(static_cast<NodeId>(id));
    const bool makes_terms = node.op == Op::kMul && is_used[id] && only_summed[id];
    for (const auto& operand : node.operands) {
      is_used[operand.node] = true;
      if (node.op != Op::kSum) only_summed[operand.node] = false;
      if (!makes_terms && !(node.op == Op::kCast && factors[id])) factors[operand.node] = false;
    }
  }
  for (const auto& output : graph.outputs()) factors[output.node] = false;
  for (std::size_t id = 0; id < graph.size(); ++id) factors[id] = factors[id] && is_used[id];
  return factors;
}

std::vector<double> scales_of(const Graph& graph, const Bindings& symbols) {
  constexpr double kFew = 16;
  std::vector<double> terms(graph.size(), kFew);
  for (std::size_t id = graph.size(); id-- > 0;) {
    const auto& node = graph.node(static_cast<NodeId>(id));
    for (const auto& operand : node.operands) {
      auto& known = terms[operand.node];
      if (node.op == Op::kSum && graph.node(operand.node).op == Op::kMul) {
        known = std::max(known, static_cast<double>(operand.view.shape.back().at(symbols)));
      } else if (node.op == Op::kCast || (node.op == Op::kMul && terms[id] > kFew)) {
        known = std::max(known, terms[id]);
      }
    }
  }
  for (auto& value : terms) value = std::sqrt(kFew / value);
  return terms;
}

std::vector<bool> under_roots(const Graph& graph) {
  std::vector<bool> under(graph.size());
  for (std::size_t id = graph.size(); id-- > 0;) {
    const auto& node = graph.node(static_cast<NodeId>(id));
    const auto is_const = [&](std::size_t i) {
      return graph.node(node.operands[i].node).op == Op::kConst;
    };
    const bool passes = node.op == Op::kCast || node.op == Op::kAdd ||
                        (node.op == Op::kMul && (is_const(0) || is_const(1))) ||
                        (node.op == Op::kDiv && is_const(1));
    for (const auto& operand : node.operands) {
      if (is_root(node.op) || (passes && under[id])) under[operand.node] = true;
    }
  }
  return under;
}

bool may_leave_roots(const Graph& graph) {
  const auto never = never_negative(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto& node = graph.node(id);
    if (is_root(node.op) && !never[node.operands[0].node]) return true;
  }
  return false;
}

}  // namespace assay::compiler
