// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/graph.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace assay::compiler {
namespace {

constexpr std::array<std::string_view, 20> kNames = {
    "input", "const", "iota", "cast", "exp2", "log2",   "sin", "sqrt",       "recip",  "add",
    "mul",   "div",   "mod",  "less", "max",  "select", "sum", "max_reduce", "gather", "scatter"};

std::size_t operand_count(Op op) {
  switch (op) {
    case Op::kInput:
    case Op::kConst:
    case Op::kIota:
      return 0;
    case Op::kCast:
    case Op::kExp2:
    case Op::kLog2:
    case Op::kSin:
    case Op::kSqrt:
    case Op::kRecip:
    case Op::kSum:
    case Op::kMaxReduce:
      return 1;
    case Op::kAdd:
    case Op::kMul:
    case Op::kDiv:
    case Op::kMod:
    case Op::kLess:
    case Op::kMax:
    case Op::kGather:
      return 2;
    case Op::kSelect:
    case Op::kScatter:
      return 3;
  }
  throw InternalError("an Op is one of its enumerators");
}

bool is_index(DType dtype) { return dtype == DType::kI32 || dtype == DType::kI64; }

std::uint64_t greatest_bits(DType dtype) {
  if (dtype == DType::kBool) return 1;
  return ~std::uint64_t{0} >> (64 - 8 * size_of(dtype));
}

std::string text_of(const Node& node) {
  std::string text =
      fmt::format("{} {} {} '{}' {}", static_cast<int>(node.op), static_cast<int>(node.dtype),
                  to_string(node.shape), node.name, node.bits);
  for (const auto& operand : node.operands) {
    text += fmt::format("; {} {}", operand.node, operand.view.to_string());
  }
  return text;
}

}  // namespace

std::string_view name_of(Op op) { return kNames.at(static_cast<std::size_t>(op)); }

Op op_from_name(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    fail("unknown operation, expected one of {}, got '{}'", fmt::join(kNames, ", "), name);
  }
  return static_cast<Op>(found - kNames.begin());
}

bool is_graph_dtype(DType dtype) {
  return is_floating(dtype) || is_index(dtype) || dtype == DType::kBool;
}

Dim Graph::symbol(const std::string& name, std::int64_t low, std::int64_t high) {
  const Dim dim = Dim::symbol(name);
  if (low < 0 || high < low) fail("symbol '{}' from {} to {}", name, low, high);
  const auto [at, is_new] = symbols_.try_emplace(name, Interval{low, high});
  if (!is_new && !(at->second == Interval{low, high})) {
    fail("symbol '{}' is from {} to {} already, not from {} to {}", name, at->second.low,
         at->second.high, low, high);
  }
  return dim;
}

void Graph::check_node(const Node& node) const {
  const auto op = name_of(node.op);
  const auto shape_of = [&](std::size_t i) -> const std::vector<Dim>& {
    return node.operands[i].view.shape;
  };
  const auto dtype_of = [&](std::size_t i) { return nodes_[node.operands[i].node].dtype; };
  if (!is_graph_dtype(node.dtype)) fail("{}: graphs do not know {}", op, name_of(node.dtype));
  if (node.operands.size() != operand_count(node.op)) {
    fail("{}: {} operands, got {}", op, operand_count(node.op), node.operands.size());
  }
  for (const auto& dim : node.shape) {
    if (dim.range(symbols_).high < 0) {
      fail("{}: an extent below 0: {}", op, to_string(node.shape));
    }
  }
  for (const auto& operand : node.operands) {
    if (operand.node >= nodes_.size()) fail("{}: no node {}", op, operand.node);
    const auto& view = operand.view;
    if (view.shape.size() != view.strides.size()) {
      fail("{}: {} extents and {} strides", op, view.shape.size(), view.strides.size());
    }
    for (const auto* dims : {&view.shape, &view.strides}) {
      for (const auto& dim : *dims) dim.range(symbols_);  // knows its symbols
    }
    view.offset.range(symbols_);
    product(view.shape);  // fits 64 bits, and so does the next
  }
  product(node.shape);
  const auto same_shape = [&](std::size_t i, const std::vector<Dim>& shape) {
    if (shape_of(i) == shape) return;
    fail("{}: operand {} has shape {}, expected {}", op, i, to_string(shape_of(i)),
         to_string(shape));
  };
  const auto same_dtype = [&](std::size_t i, DType dtype) {
    if (dtype_of(i) == dtype) return;
    fail("{}: operand {} is {}, expected {} (casts are explicit)", op, i, name_of(dtype_of(i)),
         name_of(dtype));
  };
  const auto index_operand = [&](std::size_t i) {
    if (!is_index(dtype_of(i)))
      fail("{}: indices are i32 or i64, got {}", op, name_of(dtype_of(i)));
  };
  const auto floating = [&] {
    if (!is_floating(node.dtype)) fail("{}: of floating point, got {}", op, name_of(node.dtype));
  };
  switch (node.op) {
    case Op::kInput:
      if (node.name.empty()) fail("input: without a name");
      return;
    case Op::kConst:
      if (!node.shape.empty()) fail("const: one value, got shape {}", to_string(node.shape));
      if (node.bits > greatest_bits(node.dtype)) {
        fail("const: bits of {} are at most {:#x}, got {:#x}", name_of(node.dtype),
             greatest_bits(node.dtype), node.bits);
      }
      return;
    case Op::kIota:
      if (node.shape.size() != 1 || !is_index(node.dtype)) {
        fail("iota: one axis of i32 or i64, got {} of {}", name_of(node.dtype),
             to_string(node.shape));
      }
      return;
    case Op::kCast:
      return same_shape(0, node.shape);
    case Op::kExp2:
    case Op::kLog2:
    case Op::kSin:
    case Op::kSqrt:
    case Op::kRecip:
      floating();
      same_dtype(0, node.dtype);
      return same_shape(0, node.shape);
    case Op::kDiv:
    case Op::kMod:
    case Op::kAdd:
    case Op::kMul:
    case Op::kMax:
      if (node.op == Op::kDiv) floating();
      if (node.op == Op::kMod && node.dtype == DType::kBool) fail("mod: of numbers, got bool");
      for (const std::size_t i : {0, 1}) {
        same_dtype(i, node.dtype);
        same_shape(i, node.shape);
      }
      return;
    case Op::kLess:
      if (node.dtype != DType::kBool) fail("less: gives bool, got {}", name_of(node.dtype));
      same_dtype(1, dtype_of(0));
      same_shape(0, node.shape);
      return same_shape(1, node.shape);
    case Op::kSelect:
      same_dtype(0, DType::kBool);
      for (const std::size_t i : {1, 2}) same_dtype(i, node.dtype);
      for (const std::size_t i : {0, 1, 2}) same_shape(i, node.shape);
      return;
    case Op::kSum:
    case Op::kMaxReduce: {
      same_dtype(0, node.dtype);
      if (shape_of(0).empty()) fail("{}: of a tensor without axes", op);
      auto shape = node.shape;
      shape.push_back(shape_of(0).back());
      same_shape(0, shape);
      if (node.op == Op::kMaxReduce && shape.back().range(symbols_).low < 1) {
        fail("max_reduce: over an axis that can be empty: {} (let its symbols begin at 1)",
             to_string(shape));
      }
      return;
    }
    case Op::kGather:
      same_dtype(0, node.dtype);
      index_operand(1);
      if (product(shape_of(0)).range(symbols_).low < 1) {
        fail("gather: from what can be empty: {}", to_string(shape_of(0)));
      }
      return same_shape(1, node.shape);
    case Op::kScatter:
      same_dtype(0, node.dtype);
      same_dtype(2, node.dtype);
      index_operand(1);
      same_shape(0, node.shape);
      return same_shape(2, shape_of(1));
  }
}

NodeId Graph::add(Node node) {
  check_node(node);
  const auto text = node.op == Op::kInput ? "input " + node.name : text_of(node);
  const auto id = static_cast<NodeId>(nodes_.size());
  const auto [at, is_new] = known_.try_emplace(text, id);
  if (is_new) {
    nodes_.push_back(std::move(node));
  } else if (!(nodes_[at->second] == node)) {
    const auto& known = nodes_[at->second];
    fail("input '{}' is {} {} already, not {} {}", node.name, name_of(known.dtype),
         to_string(known.shape), name_of(node.dtype), to_string(node.shape));
  }
  return at->second;
}

std::vector<NodeId> Graph::inputs() const {
  std::vector<NodeId> ids;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id].op == Op::kInput) ids.push_back(id);
  }
  return ids;
}

void Graph::set_output(const std::string& name, NodeId id, const std::string& replaces) {
  if (id >= nodes_.size()) fail("output '{}': no node {}", name, id);
  if (name.empty()) fail("an output without a name");
  for (const auto& taken : outputs_) {
    if (taken.name == name) fail("two outputs of one name: '{}'", name);
    if (!replaces.empty() && taken.replaces == replaces) {
      fail("output '{}': '{}' is replaced by '{}' already", name, replaces, taken.name);
    }
  }
  if (!replaces.empty()) {
    const auto found = known_.find("input " + replaces);
    if (found == known_.end()) fail("output '{}' replaces no input: '{}'", name, replaces);
    const auto &input = nodes_[found->second], &node = nodes_[id];
    if (input.dtype != node.dtype || !(input.shape == node.shape)) {
      fail("output '{}' is {} {}, but replaces '{}', {} {}", name, name_of(node.dtype),
           to_string(node.shape), replaces, name_of(input.dtype), to_string(input.shape));
    }
  }
  outputs_.push_back({name, id, replaces});
}

}  // namespace assay::compiler
