// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Graphs in an e-graph. A class is a tensor's elements, without gaps; a node's operator is what it
// computes, and its payload everything else that it is: dtype, shape, how operands are viewed. So
// two nodes are equal only where all of it is, and nothing is ever equal to what it wraps.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/graph_tensor.h"
#include "compiler/program/program.h"
#include "egraph/egraph.h"
#include "egraph/term.h"

namespace assay::compiler {

// Operators: those of Op under their own numbers, and
enum class Found : egraph::Operator {
  // Σ_k a[…, k] · b[…, k] by two views of one shape, of 16-bit operands in f32
  kProduct = static_cast<egraph::Operator>(Op::kScatter) + 1,
  kBody,  // what a function of the front end builds of its operands, as one
  kAttention,
  kGrouped,  // rows times their experts' matrices
};

// What a body builds of its leaves, all of one shape, and numbers that belong to it.
using BodyMaker = std::function<GraphTensor(const std::vector<GraphTensor>& leaves, int axis,
                                            const std::vector<double>& numbers)>;

// Everything of a node but its operator and children.
struct TermAttributes {
  DType dtype = DType::kF32;
  std::vector<Dim> shape;
  std::vector<View> views;  // of the children
  std::string name;         // of an input
  std::uint64_t bits = 0;   // of a constant
  // Of what was found:
  std::optional<Attention> attention;  // accesses name children
  std::uint32_t body = 0;              // TensorEGraph::bodies
  int axis = 0;
  std::vector<double> numbers;
  std::vector<std::string> rules;
};

// What is known of a class: what its nodes must agree in, and where integers can lie.
struct ClassFacts {
  DType dtype = DType::kF32;
  std::vector<Dim> shape;
  Interval interval;  // of integers and bool
};

class TensorEGraph : public egraph::Analysis {
 public:
  explicit TensorEGraph(const Graph& graph);
  ~TensorEGraph() override;

  egraph::EGraph& terms() { return *egraph_; }
  const egraph::EGraph& terms() const { return *egraph_; }
  egraph::Vocabulary& vocabulary() { return vocabulary_; }
  const Symbols& symbols() const { return graph_.symbols(); }
  const Graph& graph() const { return graph_; }
  // The class of each node of the graph.
  egraph::ClassId class_of(NodeId id) const { return egraph_->find(classes_[id]); }

  std::uint64_t payload(const egraph::Operator& op, TermAttributes attributes);
  const TermAttributes& attributes(std::uint64_t payload) const { return table_.at(payload); }
  const ClassFacts& facts(egraph::ClassId id) const { return facts_.at(egraph_->find(id)); }
  // The class of one number, rounded to the dtype.
  egraph::ClassId constant(DType dtype, double value);
  std::uint32_t add_body(BodyMaker body);
  const BodyMaker& body(std::uint32_t number) const { return bodies_.at(number); }

  // The first node of a class with that operator, if any.
  std::optional<egraph::NodeView> node_of(egraph::ClassId id, Op op) const;
  // The value of a class that is one constant.
  std::optional<double> constant_of(egraph::ClassId id) const;

 private:
  void made(const egraph::EGraph& graph, egraph::ClassId id) override;
  bool joined(const egraph::EGraph& graph, egraph::ClassId kept, egraph::ClassId gone) override;
  Interval interval_of(const egraph::NodeView& node, const TermAttributes& attributes) const;

  const Graph& graph_;
  egraph::Vocabulary vocabulary_;
  std::vector<TermAttributes> table_;
  std::map<std::string, std::uint64_t> known_;
  std::vector<BodyMaker> bodies_;
  std::vector<ClassFacts> facts_;
  std::unique_ptr<egraph::EGraph> egraph_;
  std::vector<egraph::ClassId> classes_;
  mutable std::size_t noted_ = 0;
  mutable std::uint32_t noted_at_ = 0;
  mutable std::map<egraph::ClassId, std::vector<egraph::ClassId>> members_;

 public:
  // Nodes of a class, in the order they came; while rules are applied, as they were before that.
  const std::vector<egraph::ClassId>& members(egraph::ClassId id) const;
};

}  // namespace assay::compiler
