// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A tensor program: primitives over views. Everything that people call an operation (matmul,
// softmax, norms) is built of these by tensor.h, and found again by rules.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/view.h"
#include "tensor/dtype.h"

namespace assay::compiler {

// What a node computes, element by element of its shape unless said otherwise. Results are rounded
// to the node's dtype, once. Floating point knows NaN and infinities everywhere.
enum class Op : std::uint8_t {
  kInput,  // what the caller gives, by name
  kConst,  // one value, shape []
  kIota,   // 0, 1, 2, …, shape [n], integer
  kCast,   // to the node's dtype: towards zero from floating point to integers, saturating, NaN to
           // 0; to bool: not equal to 0
  kExp2,   // floating point from here …
  kLog2,
  kSin,
  kSqrt,
  kRecip,   // … to here
  kAdd,     // integers wrap around; of bool: or
  kMul,     // likewise; of bool: and
  kDiv,     // floating point: the quotient, rounded once, where x · (1 / y) is rounded twice
  kMod,     // the remainder with the divisor's sign; an integer divided by 0 leaves 0
  kLess,    // bool
  kMax,     // NaN where either is
  kSelect,  // operand 0 (bool) ? operand 1 : operand 2
  kSum,     // over the last axis, in any order and at least in f32: the interpreter sums in f64 (of
            // f64 with what additions lose kept beside) and rounds once; a runtime may be off by
  // what f32 (of f64: f64) rounds or overflows to on the way, which verification allows and
  // no more (verify/bounds.h). Of a product that only a sum reads, product and addition may
  // be one operation: what overflows by itself is then a number
  kMaxReduce,  // over the last axis, which is not empty; NaN where any is
  kGather,     // operand 0 (data), operand 1 (flat indices into data, row-major): an index outside
               // counts as the nearest inside
  kScatter,    // operand 0 with operand 2's elements at the flat indices of operand 1; the last of
               // several in row-major order stays, one outside is left out
};
std::string_view name_of(Op op);
// Throws UserError that lists the names.
Op op_from_name(std::string_view name);

using NodeId = std::uint32_t;

// What a node reads: another node's elements, which have no gaps, through a view.
struct Operand {
  NodeId node = 0;
  View view;
  bool operator==(const Operand&) const = default;
};

struct Node {
  Op op = Op::kConst;
  DType dtype = DType::kF32;
  std::vector<Dim> shape;
  std::vector<Operand> operands;
  std::string name;        // of an input
  std::uint64_t bits = 0;  // of a constant: the value in its dtype, low bits
  bool operator==(const Node&) const = default;
};

// Whether graphs know the dtype: f32, f64, f16, bf16, i32, i64, bool.
bool is_graph_dtype(DType dtype);

struct Output {
  std::string name;
  NodeId node = 0;
  // Not empty: the input that this is the next value of (a cache of keys). Whoever runs the graph
  // again gives it back there; a program may overwrite it.
  std::string replaces;
  bool operator==(const Output&) const = default;
};

class Graph {
 public:
  // A dimension with a name, and the values that it can have: at least 0. Asking again for the same
  // is fine, for another interval a UserError.
  Dim symbol(const std::string& name, std::int64_t low, std::int64_t high);
  const Symbols& symbols() const { return symbols_; }

  // Checks it (UserError that names operation, shapes and dtypes) and returns its number: that of
  // an equal node, where there is one. Inputs are equal by name.
  NodeId add(Node node);
  const Node& node(NodeId id) const { return nodes_.at(id); }
  // Operands come before the nodes that read them.
  std::size_t size() const { return nodes_.size(); }
  std::vector<NodeId> inputs() const;

  // Names in the order they were given. Throws UserError for one that is taken, for an input that
  // is replaced twice, and where what replaces an input has another dtype or shape.
  void set_output(const std::string& name, NodeId id, const std::string& replaces = {});
  const std::vector<Output>& outputs() const { return outputs_; }

 private:
  void check_node(const Node& node) const;

  Symbols symbols_;
  std::vector<Node> nodes_;
  std::map<std::string, NodeId> known_;  // by what they are, as text
  std::vector<Output> outputs_;
};

}  // namespace assay::compiler
