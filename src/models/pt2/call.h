// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One call of an operator in an exported program, as what implements the operator sees it: its
// arguments by the names of torch's schema. An argument that was not given has torch's default,
// which is stated where it is asked for. Everything throws UserError that names the argument.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/graph/graph_tensor.h"
#include "models/config/json_field.h"
#include "models/pt2/checks.h"
#include "models/pt2/memory.h"

namespace assay::models::pt2 {

using compiler::Dim;
using compiler::Graph;
using compiler::GraphTensor;

// A number of Python that each run computes: f64, without axes.
struct Computed {
  GraphTensor value;
};
// A number of Python: whole numbers may be expressions of symbols.
using Number = std::variant<bool, Dim, double, Computed>;

struct Value;
using Values = std::vector<Value>;
struct Nothing {};
struct Value {
  std::variant<Nothing, Held, bool, Dim, double, Computed, std::string, DType, Values> is =
      Nothing{};
};

// What an operator gives back.
using Result =
    std::variant<Nothing, GraphTensor, std::vector<GraphTensor>, Dim, bool, double, Computed>;

// What torch says that the first result is; none where it says nothing.
struct Declared {
  std::optional<std::vector<Dim>> shape;  // of a tensor
  std::optional<DType> dtype;             // of a tensor
  std::optional<JsonField> size;          // of a whole number: its expression
};

class Call {
 public:
  Call(Graph& graph, Memory& memory, Checks& checks,
       std::map<std::string, Value, std::less<>> arguments, Declared declared)
      : graph_(&graph),
        memory_(&memory),
        checks_(&checks),
        arguments_(std::move(arguments)),
        declared_(std::move(declared)) {}

  Graph& graph() const { return *graph_; }
  const Declared& declared() const { return declared_; }
  // What torch makes of integers, bool and numbers where the call asks for nothing: its default
  // dtype, which no program says, but a result that has it; else f32.
  DType default_floating() const;
  DType floating_of(DType dtype) const { return is_floating(dtype) ? dtype : default_floating(); }
  bool has(std::string_view name) const;  // given, and not None

  GraphTensor tensor(std::string_view name) const;
  std::optional<GraphTensor> tensor_or_none(std::string_view name) const;
  std::vector<GraphTensor> tensors(std::string_view name) const;
  std::vector<std::optional<GraphTensor>> optional_tensors(std::string_view name) const;
  Dim dim(std::string_view name) const;
  Dim dim(std::string_view name, const Dim& otherwise) const;
  std::vector<Dim> dims(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  // Of a list, or of one number.
  std::vector<std::int64_t> integers(std::string_view name,
                                     std::vector<std::int64_t> otherwise = {}) const;
  bool flag(std::string_view name, bool otherwise) const;
  std::vector<bool> flags(std::string_view name) const;
  double number(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  Number scalar(std::string_view name) const;
  // None of a tensor, of an expression and of what each run computes.
  std::optional<double> known_number(std::string_view name) const;
  std::string text(std::string_view name, const std::string& otherwise) const;
  std::optional<DType> dtype(std::string_view name = "dtype") const;
  const Held& held(std::string_view name) const;

  // A tensor or a number, with the dtype that it takes part in promotion with.
  bool is_tensor(std::string_view name) const;
  // Tensors and numbers of these names in the dtype that torch computes in.
  std::vector<GraphTensor> promoted_all(const std::vector<std::string_view>& names,
                                        std::optional<DType> at_least = {}) const;
  DType result_dtype(const std::vector<std::string_view>& names) const;
  // As a tensor of that dtype.
  GraphTensor operand(std::string_view name, DType dtype) const;

  // What torch refuses when it runs, and graphs do not see: whole numbers 0 in the divisor of that
  // name, whose values these are; false in the tensor of that name, with the message that is then
  // due; indices that are not in 0 … extent − 1, or with `wraps` in −extent … extent − 1.
  void refuse_zero(std::string_view name, const GraphTensor& divisor);
  void refuse_false(std::string_view name, const std::string& message);
  void refuse_outside(const GraphTensor& index, const Dim& extent, bool wraps);

  // An argument that the operator writes (running statistics).
  void write(std::string_view name, const GraphTensor& value);

 private:
  const Value* find(std::string_view name) const;
  template <typename T>
  const T& get(std::string_view name, std::string_view expected) const;

  Graph* graph_;
  Memory* memory_;
  Checks* checks_;
  std::map<std::string, Value, std::less<>> arguments_;
  Declared declared_;
};

// A whole number, exactly; and the value of an expression.
GraphTensor integer_constant(Graph& graph, DType dtype, std::int64_t value);
GraphTensor dim_value(Graph& graph, const Dim& dim, DType dtype = DType::kI64);
GraphTensor number_value(Graph& graph, const Number& number, DType dtype);

}  // namespace assay::models::pt2
