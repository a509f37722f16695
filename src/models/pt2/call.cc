// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/call.h"

#include <cmath>

#include "base/error.h"
#include "compiler/graph/dtypes.h"
#include "models/pt2/promotion.h"

namespace assay::models::pt2 {
namespace {

constexpr const char* kDividedByZero = "a whole number is divided by 0";

Typed typed_number(const Number& number, DType floating) {
  if (std::holds_alternative<bool>(number)) return {DType::kBool, Rank::kNumber};
  return {std::holds_alternative<Dim>(number) ? DType::kI64 : floating, Rank::kNumber};
}

}  // namespace

GraphTensor integer_constant(Graph& graph, DType dtype, std::int64_t value) {
  if (dtype == DType::kI32) value = static_cast<std::int32_t>(value);  // as torch's wrap around
  if (dtype != DType::kI64) return GraphTensor::constant(graph, dtype, static_cast<double>(value));
  compiler::Node node;
  node.op = compiler::Op::kConst;
  node.dtype = dtype;
  node.bits = static_cast<std::uint64_t>(value);
  return GraphTensor::of_node(graph, graph.add(std::move(node)));
}

GraphTensor dim_value(Graph& graph, const Dim& dim, DType dtype) {
  if (const auto value = dim.constant()) return integer_constant(graph, dtype, *value);
  // The last of 0 … size.
  const auto from_zero = [&](const Dim& size) {
    return GraphTensor::iota(graph, size + 1).slice(0, size, size + 1).squeeze(0);
  };
  const auto [low, high] = dim.range(graph.symbols());
  if (low >= 0) return from_zero(dim).cast(dtype);
  if (high <= 0) return (-from_zero(dim * -1)).cast(dtype);
  return (from_zero(max(dim, 0)) - from_zero(max(dim * -1, 0))).cast(dtype);
}

GraphTensor number_value(Graph& graph, const Number& number, DType dtype) {
  if (const auto* flag = std::get_if<bool>(&number)) {
    return GraphTensor::constant(graph, dtype, *flag ? 1 : 0);
  }
  if (const auto* real = std::get_if<double>(&number)) {
    return GraphTensor::constant(graph, dtype, *real);
  }
  if (const auto* computed = std::get_if<Computed>(&number)) return computed->value.cast(dtype);
  return dim_value(graph, std::get<Dim>(number), dtype);
}

const Value* Call::find(std::string_view name) const {
  const auto found = arguments_.find(name);
  if (found == arguments_.end() || std::holds_alternative<Nothing>(found->second.is))
    return nullptr;
  return &found->second;
}

bool Call::has(std::string_view name) const { return find(name) != nullptr; }

template <typename T>
const T& Call::get(std::string_view name, std::string_view expected) const {
  const auto* value = find(name);
  if (value == nullptr) fail("argument '{}' is missing", name);
  const auto* found = std::get_if<T>(&value->is);
  if (found == nullptr) fail("argument '{}' is not {}", name, expected);
  return *found;
}

const Held& Call::held(std::string_view name) const { return get<Held>(name, "a tensor"); }
GraphTensor Call::tensor(std::string_view name) const { return memory_->read(held(name)); }
std::optional<GraphTensor> Call::tensor_or_none(std::string_view name) const {
  return has(name) ? std::optional(tensor(name)) : std::nullopt;
}
std::vector<std::optional<GraphTensor>> Call::optional_tensors(std::string_view name) const {
  std::vector<std::optional<GraphTensor>> result;
  for (const auto& value : get<Values>(name, "a list")) {
    const auto* tensor = std::get_if<Held>(&value.is);
    if (tensor == nullptr && !std::holds_alternative<Nothing>(value.is)) {
      fail("argument '{}' is not a list of tensors", name);
    }
    result.push_back(tensor == nullptr ? std::nullopt : std::optional(memory_->read(*tensor)));
  }
  return result;
}
std::vector<GraphTensor> Call::tensors(std::string_view name) const {
  std::vector<GraphTensor> result;
  for (const auto& tensor : optional_tensors(name)) {
    if (!tensor) fail("argument '{}' is not a list of tensors", name);
    result.push_back(*tensor);
  }
  return result;
}

Dim Call::dim(std::string_view name) const {
  const auto* value = find(name);
  const auto* number = value == nullptr ? nullptr : std::get_if<double>(&value->is);
  if (number != nullptr && std::abs(*number) < 0x1p53 && *number == std::floor(*number)) {
    return static_cast<std::int64_t>(*number);
  }
  return get<Dim>(name, "a whole number");
}
Dim Call::dim(std::string_view name, const Dim& otherwise) const {
  return has(name) ? dim(name) : otherwise;
}
std::vector<Dim> Call::dims(std::string_view name) const {
  std::vector<Dim> result;
  for (const auto& value : get<Values>(name, "a list")) {
    const auto* dim = std::get_if<Dim>(&value.is);
    if (dim == nullptr) fail("argument '{}' is not a list of whole numbers", name);
    result.push_back(*dim);
  }
  return result;
}
std::int64_t Call::integer(std::string_view name) const {
  const auto value = dim(name);
  if (!value.constant()) fail("argument '{}' is a number, not '{}'", name, value.to_string());
  return *value.constant();
}
std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}
std::vector<std::int64_t> Call::integers(std::string_view name,
                                         std::vector<std::int64_t> otherwise) const {
  const auto* value = find(name);
  if (value == nullptr) return otherwise;
  if (!std::holds_alternative<Values>(value->is)) return {integer(name)};
  std::vector<std::int64_t> result;
  for (const auto& each : dims(name)) {
    if (!each.constant()) fail("argument '{}' is of numbers, not '{}'", name, each.to_string());
    result.push_back(*each.constant());
  }
  return result;
}
bool Call::flag(std::string_view name, bool otherwise) const {
  return has(name) ? get<bool>(name, "true or false") : otherwise;
}
std::vector<bool> Call::flags(std::string_view name) const {
  std::vector<bool> result;
  for (const auto& each : get<Values>(name, "a list")) {
    const auto* flag = std::get_if<bool>(&each.is);
    if (flag == nullptr) fail("argument '{}' is of true and false", name);
    result.push_back(*flag);
  }
  return result;
}
Number Call::scalar(std::string_view name) const {
  const auto* value = find(name);
  if (value != nullptr) {
    if (const auto* flag = std::get_if<bool>(&value->is)) return *flag;
    if (const auto* dim = std::get_if<Dim>(&value->is)) return *dim;
    if (const auto* number = std::get_if<double>(&value->is)) return *number;
    if (const auto* computed = std::get_if<Computed>(&value->is)) return *computed;
  }
  fail("argument '{}' is not a number", name);
}
std::optional<double> Call::known_number(std::string_view name) const {
  if (is_tensor(name)) return std::nullopt;
  const auto value = scalar(name);
  if (std::holds_alternative<Computed>(value)) return std::nullopt;
  const auto* dim = std::get_if<Dim>(&value);
  return dim == nullptr || dim->constant() ? std::optional(number(name)) : std::nullopt;
}
double Call::number(std::string_view name) const {
  const auto value = scalar(name);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (std::holds_alternative<Computed>(value)) {
    fail("argument '{}' is a number that is known before sizes are", name);
  }
  return static_cast<double>(integer(name));
}
double Call::number(std::string_view name, double otherwise) const {
  return has(name) ? number(name) : otherwise;
}
std::string Call::text(std::string_view name, const std::string& otherwise) const {
  return has(name) ? get<std::string>(name, "a text") : otherwise;
}
std::optional<DType> Call::dtype(std::string_view name) const {
  return has(name) ? std::optional(get<DType>(name, "a dtype")) : std::nullopt;
}

DType Call::default_floating() const {
  return declared_.dtype && is_floating(*declared_.dtype) ? *declared_.dtype : DType::kF32;
}
bool Call::is_tensor(std::string_view name) const {
  const auto* value = find(name);
  return value != nullptr && std::holds_alternative<Held>(value->is);
}
GraphTensor Call::operand(std::string_view name, DType dtype) const {
  return is_tensor(name) ? tensor(name).cast(dtype) : number_value(*graph_, scalar(name), dtype);
}
DType Call::result_dtype(const std::vector<std::string_view>& names) const {
  std::vector<Typed> typed;
  for (const auto name : names) {
    if (!is_tensor(name)) {
      typed.push_back(typed_number(scalar(name), default_floating()));
      continue;
    }
    const auto x = tensor(name);
    typed.push_back({x.dtype(), x.rank() == 0 ? Rank::kNoAxes : Rank::kAxes});
  }
  return result_type(typed);
}
std::vector<GraphTensor> Call::promoted_all(const std::vector<std::string_view>& names,
                                            std::optional<DType> at_least) const {
  auto dtype = result_dtype(names);
  if (at_least && !is_floating(dtype)) dtype = *at_least;
  std::vector<GraphTensor> result;
  for (const auto name : names) result.push_back(operand(name, dtype));
  return result;
}

void Call::refuse_zero(std::string_view name, const GraphTensor& divisor) {
  if (const auto known = known_number(name)) {
    if (*known == 0) fail(kDividedByZero);
    return;
  }
  const auto* value = find(name);
  const auto* dim = value == nullptr ? nullptr : std::get_if<Dim>(&value->is);
  if (dim == nullptr || dim->range(graph_->symbols()).low < 1) {
    checks_->add_nonzero(divisor, kDividedByZero);
  }
}
void Call::refuse_false(std::string_view name, const std::string& message) {
  checks_->add_nonzero(tensor(name), message);
}
void Call::refuse_outside(const GraphTensor& index, const Dim& extent, bool wraps) {
  checks_->add_index(index, wraps ? extent * -1 : Dim(0), extent);
}

void Call::write(std::string_view name, const GraphTensor& value) {
  memory_->write(held(name), value);
}

}  // namespace assay::models::pt2
