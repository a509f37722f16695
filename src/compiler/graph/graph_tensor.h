// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The front end: handles with operators that add to a graph. Shapes broadcast as NumPy's do; dtypes
// never mix. Everything that makes no sense is a UserError that names the operation and both
// shapes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// Elements of a node through a view. Cheap to copy; lives as long as the graph.
class GraphTensor {
 public:
  static GraphTensor input(Graph& graph, std::string name, DType dtype, std::vector<Dim> shape);
  // One value, rounded to the dtype.
  static GraphTensor constant(Graph& graph, DType dtype, double value);
  // 0 … n − 1.
  static GraphTensor iota(Graph& graph, const Dim& n, DType dtype = DType::kI64);
  // What a node computes, as it is.
  static GraphTensor of_node(Graph& graph, NodeId node);
  // Seen by a view of its elements.
  static GraphTensor of_node(Graph& graph, NodeId node, View view);

  Graph& graph() const { return *graph_; }
  DType dtype() const { return graph_->node(node_).dtype; }
  const std::vector<Dim>& shape() const { return view_.shape; }
  std::size_t rank() const { return view_.rank(); }
  const View& view() const { return view_; }
  NodeId node() const { return node_; }

  // Movement: a change of the view. Negative axes count from the end.
  GraphTensor permute(const std::vector<std::size_t>& order) const;
  GraphTensor transpose(int a = -2, int b = -1) const;
  GraphTensor unsqueeze(int axis) const;
  GraphTensor squeeze(int axis) const;
  GraphTensor expand(int axis, const Dim& extent) const;
  // To a shape that this one broadcasts to: new axes in front, axes of extent 1 repeated.
  GraphTensor broadcast_to(const std::vector<Dim>& shape) const;
  GraphTensor split(int axis, const Dim& inner) const;
  GraphTensor slice(int axis, const Dim& begin, const Dim& end, std::int64_t step = 1) const;
  GraphTensor reverse(int axis) const;
  // By a copy where no view will do.
  GraphTensor reshape(const std::vector<Dim>& shape) const;
  GraphTensor flatten() const { return reshape({product(shape())}); }
  // A node of its own with these elements in order; itself where it is that already.
  GraphTensor contiguous() const;

  GraphTensor cast(DType dtype) const;
  // A constant of this one's dtype.
  GraphTensor like(double value) const { return constant(*graph_, dtype(), value); }

  // Over one axis, which goes or stays with extent 1.
  GraphTensor sum(int axis, bool keeps = false) const;
  GraphTensor max(int axis, bool keeps = false) const;
  GraphTensor mean(int axis, bool keeps = false) const;

  void set_output(const std::string& name) const { set_output(name, {}); }
  // The next value of an input (graph.h).
  void set_output(const std::string& name, const std::string& replaces) const;

 private:
  GraphTensor(Graph& graph, NodeId node, View view)
      : graph_(&graph), node_(node), view_(std::move(view)) {}
  GraphTensor with(View view) const { return {*graph_, node_, std::move(view)}; }
  std::size_t axis_of(int axis, const char* what, std::size_t more = 0) const;
  GraphTensor copied() const;
  GraphTensor reduced(Op op, int axis, bool keeps) const;

  Graph* graph_;
  NodeId node_;
  View view_;
};

// Primitives.
GraphTensor exp2(const GraphTensor& x);
GraphTensor log2(const GraphTensor& x);
GraphTensor sin(const GraphTensor& x);
GraphTensor sqrt(const GraphTensor& x);
GraphTensor recip(const GraphTensor& x);
GraphTensor operator+(const GraphTensor& a, const GraphTensor& b);
GraphTensor operator*(const GraphTensor& a, const GraphTensor& b);
GraphTensor operator/(const GraphTensor& a, const GraphTensor& b);
GraphTensor mod(const GraphTensor& a, const GraphTensor& b);
GraphTensor less(const GraphTensor& a, const GraphTensor& b);
GraphTensor max(const GraphTensor& a, const GraphTensor& b);
GraphTensor select(const GraphTensor& condition, const GraphTensor& yes, const GraphTensor& no);
// By flat indices into `data`, row-major (Op::kGather, Op::kScatter).
GraphTensor gather(const GraphTensor& data, const GraphTensor& index);
GraphTensor scatter(const GraphTensor& data, const GraphTensor& index, const GraphTensor& values);

// Built of them. Activations, matmul, softmax and norms of f16 and bf16 compute in f32 and round
// once, at the end.
GraphTensor operator-(const GraphTensor& x);
GraphTensor operator-(const GraphTensor& a, const GraphTensor& b);
GraphTensor operator+(const GraphTensor& a, double b);
GraphTensor operator-(const GraphTensor& a, double b);
GraphTensor operator*(const GraphTensor& a, double b);
GraphTensor operator/(const GraphTensor& a, double b);
GraphTensor min(const GraphTensor& a, const GraphTensor& b);
GraphTensor logical_not(const GraphTensor& x);
GraphTensor less_equal(const GraphTensor& a, const GraphTensor& b);
GraphTensor equal(const GraphTensor& a, const GraphTensor& b);
GraphTensor exp(const GraphTensor& x);
GraphTensor log(const GraphTensor& x);
GraphTensor cos(const GraphTensor& x);
GraphTensor sigmoid(const GraphTensor& x);
GraphTensor tanh(const GraphTensor& x);
// eˣ − 1 and log(1 + x), near 0 too.
GraphTensor expm1(const GraphTensor& x);
GraphTensor log1p(const GraphTensor& x);
GraphTensor silu(const GraphTensor& x);
GraphTensor gelu_tanh(const GraphTensor& x);
GraphTensor relu(const GraphTensor& x);
// […, m, k] × […, k, n], leading axes broadcast; [k] stands for a row or a column.
GraphTensor matmul(const GraphTensor& a, const GraphTensor& b);
GraphTensor softmax(const GraphTensor& x, int axis = -1);
// x / √(mean x² + ε) along the last axis, times `weight`.
GraphTensor rms_norm(const GraphTensor& x, const GraphTensor& weight, double epsilon);
GraphTensor layer_norm(const GraphTensor& x, const GraphTensor& weight, const GraphTensor& bias,
                       double epsilon);
// Rows of [n, width] by index: […] → […, width].
GraphTensor rows(const GraphTensor& table, const GraphTensor& index);
GraphTensor concat(const std::vector<GraphTensor>& parts, int axis);
GraphTensor pad(const GraphTensor& x, int axis, const Dim& before, const Dim& after, double value);
// Sums of all elements up to each along an axis.
GraphTensor cumulative_sum(const GraphTensor& x, int axis);

}  // namespace assay::compiler
