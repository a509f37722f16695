// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/graph_tensor.h"

#include <algorithm>

#include "base/error.h"
#include "compiler/graph/dtypes.h"

namespace assay::compiler {
namespace {

void check_one_graph(std::string_view op, const std::vector<GraphTensor>& operands) {
  for (const auto& operand : operands) {
    if (&operand.graph() != &operands[0].graph()) fail("{}: of tensors of two graphs", op);
  }
}

// The shape that both broadcast to.
std::vector<Dim> common_shape(std::string_view op, const std::vector<Dim>& a,
                              const std::vector<Dim>& b) {
  const auto rank = std::max(a.size(), b.size());
  std::vector<Dim> shape(rank);
  for (std::size_t i = 1; i <= rank; ++i) {
    const Dim x = i <= a.size() ? a[a.size() - i] : Dim(1),
              y = i <= b.size() ? b[b.size() - i] : Dim(1);
    if (!(x == y) && !x.is(1) && !y.is(1)) {
      fail("{}: shapes {} and {} do not go together: {} and {}", op, to_string(a), to_string(b),
           x.to_string(), y.to_string());
    }
    shape[rank - i] = x.is(1) ? y : x;
  }
  return shape;
}

void check_same_dtype(std::string_view op, const GraphTensor& a, const GraphTensor& b) {
  if (a.dtype() == b.dtype()) return;
  fail("{}: {} {} and {} {}: dtypes do not mix, cast one of them", op, name_of(a.dtype()),
       to_string(a.shape()), name_of(b.dtype()), to_string(b.shape()));
}

}  // namespace

GraphTensor GraphTensor::of_node(Graph& graph, NodeId node) {
  return {graph, node, View::contiguous(graph.node(node).shape)};
}
GraphTensor GraphTensor::of_node(Graph& graph, NodeId node, View view) {
  return {graph, node, std::move(view)};
}
GraphTensor GraphTensor::input(Graph& graph, std::string name, DType dtype,
                               std::vector<Dim> shape) {
  Node node;
  node.op = Op::kInput;
  node.dtype = dtype;
  node.shape = std::move(shape);
  node.name = std::move(name);
  return of_node(graph, graph.add(std::move(node)));
}
GraphTensor GraphTensor::constant(Graph& graph, DType dtype, double value) {
  Node node;
  node.op = Op::kConst;
  node.dtype = dtype;
  node.bits = bits_of(dtype, value);
  return of_node(graph, graph.add(std::move(node)));
}
GraphTensor GraphTensor::iota(Graph& graph, const Dim& n, DType dtype) {
  Node node;
  node.op = Op::kIota;
  node.dtype = dtype;
  node.shape = {n};
  return of_node(graph, graph.add(std::move(node)));
}

std::size_t GraphTensor::axis_of(int axis, const char* what, std::size_t more) const {
  const auto rank = static_cast<int>(view_.rank() + more);
  if (axis < -rank || axis >= rank) {
    fail("{}: no axis {} in shape {}", what, axis, to_string(shape()));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

GraphTensor GraphTensor::permute(const std::vector<std::size_t>& order) const {
  return with(view_.permute(order));
}
GraphTensor GraphTensor::transpose(int a, int b) const {
  const auto x = axis_of(a, "transpose"), y = axis_of(b, "transpose");
  std::vector<std::size_t> order(rank());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i == x ? y : i == y ? x : i;
  return permute(order);
}
GraphTensor GraphTensor::unsqueeze(int axis) const {
  return with(view_.insert(axis_of(axis, "unsqueeze", 1), 1));
}
GraphTensor GraphTensor::squeeze(int axis) const {
  return with(view_.squeeze(axis_of(axis, "squeeze")));
}
GraphTensor GraphTensor::expand(int axis, const Dim& extent) const {
  return with(view_.expand(axis_of(axis, "expand"), extent));
}
GraphTensor GraphTensor::broadcast_to(const std::vector<Dim>& to) const {
  if (to.size() < rank()) {
    fail("broadcast: shape {} has more axes than {}", to_string(shape()), to_string(to));
  }
  View view = view_;
  while (view.rank() < to.size()) view = view.insert(0, 1);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (view.shape[i] == to[i]) continue;
    if (!view.shape[i].is(1)) {
      fail("broadcast: shape {} to {}", to_string(shape()), to_string(to));
    }
    view = view.expand(i, to[i]);
  }
  return with(std::move(view));
}
GraphTensor GraphTensor::split(int axis, const Dim& inner) const {
  return with(view_.split(axis_of(axis, "split"), inner));
}
GraphTensor GraphTensor::slice(int axis, const Dim& begin, const Dim& end,
                               std::int64_t step) const {
  return with(view_.slice(axis_of(axis, "slice"), begin, end, step));
}
GraphTensor GraphTensor::reverse(int axis) const {
  return with(view_.reverse(axis_of(axis, "reverse")));
}
GraphTensor GraphTensor::reshape(const std::vector<Dim>& to) const {
  if (auto view = view_.reshape(to)) return with(std::move(*view));
  return contiguous().with(View::contiguous(to));
}
GraphTensor GraphTensor::contiguous() const {
  if (view_.is_contiguous() && product(view_.shape) == product(graph_->node(node_).shape)) {
    return *this;
  }
  return copied();
}
GraphTensor GraphTensor::copied() const {
  Node node;
  node.op = Op::kCast;
  node.dtype = dtype();
  node.shape = shape();
  node.operands = {{node_, view_}};
  return of_node(*graph_, graph_->add(std::move(node)));
}

// One node over operands that broadcast to one shape.
static GraphTensor add_elementwise(Op op, DType dtype, const std::vector<GraphTensor>& operands) {
  check_one_graph(name_of(op), operands);
  auto shape = operands[0].shape();
  for (const auto& operand : operands) shape = common_shape(name_of(op), shape, operand.shape());
  Node node;
  node.op = op;
  node.dtype = dtype;
  node.shape = shape;
  for (const auto& operand : operands) {
    node.operands.push_back({operand.node(), operand.broadcast_to(shape).view()});
  }
  auto& graph = operands[0].graph();
  return GraphTensor::of_node(graph, graph.add(std::move(node)));
}

GraphTensor GraphTensor::cast(DType to) const {
  return to == dtype() ? *this : add_elementwise(Op::kCast, to, {*this});
}

GraphTensor GraphTensor::reduced(Op op, int axis, bool keeps) const {
  const auto at = axis_of(axis, name_of(op).data());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rank(); ++i) {
    if (i != at) order.push_back(i);
  }
  Node node;
  node.op = op;
  node.dtype = dtype();
  for (const auto i : order) node.shape.push_back(shape()[i]);
  order.push_back(at);
  node.operands = {{node_, view_.permute(order)}};
  const auto result = of_node(*graph_, graph_->add(std::move(node)));
  return keeps ? result.unsqueeze(static_cast<int>(at)) : result;
}
GraphTensor GraphTensor::sum(int axis, bool keeps) const { return reduced(Op::kSum, axis, keeps); }
GraphTensor GraphTensor::max(int axis, bool keeps) const {
  return reduced(Op::kMaxReduce, axis, keeps);
}

void GraphTensor::set_output(const std::string& name, const std::string& replaces) const {
  // Of another shape than its node's it is a node of its own.
  const bool is_node = view_ == View::contiguous(graph_->node(node_).shape);
  const auto whole = is_node ? *this : copied();
  graph_->set_output(name, whole.node(), replaces);
}

GraphTensor exp2(const GraphTensor& x) { return add_elementwise(Op::kExp2, x.dtype(), {x}); }
GraphTensor log2(const GraphTensor& x) { return add_elementwise(Op::kLog2, x.dtype(), {x}); }
GraphTensor sin(const GraphTensor& x) { return add_elementwise(Op::kSin, x.dtype(), {x}); }
GraphTensor sqrt(const GraphTensor& x) { return add_elementwise(Op::kSqrt, x.dtype(), {x}); }
GraphTensor recip(const GraphTensor& x) { return add_elementwise(Op::kRecip, x.dtype(), {x}); }
GraphTensor operator+(const GraphTensor& a, const GraphTensor& b) {
  check_same_dtype("add", a, b);
  return add_elementwise(Op::kAdd, a.dtype(), {a, b});
}
GraphTensor operator*(const GraphTensor& a, const GraphTensor& b) {
  check_same_dtype("mul", a, b);
  return add_elementwise(Op::kMul, a.dtype(), {a, b});
}
GraphTensor operator/(const GraphTensor& a, const GraphTensor& b) {
  check_same_dtype("div", a, b);
  return add_elementwise(Op::kDiv, a.dtype(), {a, b});
}
GraphTensor mod(const GraphTensor& a, const GraphTensor& b) {
  check_same_dtype("mod", a, b);
  return add_elementwise(Op::kMod, a.dtype(), {a, b});
}
GraphTensor less(const GraphTensor& a, const GraphTensor& b) {
  check_same_dtype("less", a, b);
  return add_elementwise(Op::kLess, DType::kBool, {a, b});
}
GraphTensor max(const GraphTensor& a, const GraphTensor& b) {
  check_same_dtype("max", a, b);
  return add_elementwise(Op::kMax, a.dtype(), {a, b});
}
GraphTensor select(const GraphTensor& condition, const GraphTensor& yes, const GraphTensor& no) {
  check_same_dtype("select", yes, no);
  return add_elementwise(Op::kSelect, yes.dtype(), {condition, yes, no});
}
GraphTensor gather(const GraphTensor& data, const GraphTensor& index) {
  check_one_graph("gather", {data, index});
  Node node;
  node.op = Op::kGather;
  node.dtype = data.dtype();
  node.shape = index.shape();
  node.operands = {{data.node(), data.view()}, {index.node(), index.view()}};
  return GraphTensor::of_node(data.graph(), data.graph().add(std::move(node)));
}
GraphTensor scatter(const GraphTensor& data, const GraphTensor& index, const GraphTensor& values) {
  check_one_graph("scatter", {data, index, values});
  Node node;
  node.op = Op::kScatter;
  node.dtype = data.dtype();
  node.shape = data.shape();
  node.operands = {{data.node(), data.view()},
                   {index.node(), index.view()},
                   {values.node(), values.broadcast_to(index.shape()).view()}};
  return GraphTensor::of_node(data.graph(), data.graph().add(std::move(node)));
}

}  // namespace assay::compiler
