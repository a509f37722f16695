// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/scope.h"

#include <limits>

#include "base/text.h"

namespace assay::models::pt2 {
namespace {

std::int64_t any_integer(const JsonField& field) {
  return field.integer(std::numeric_limits<std::int64_t>::min(),
                       std::numeric_limits<std::int64_t>::max());
}
Value integer_value(const JsonField& field) { return {Dim(any_integer(field))}; }
Value float_value(const JsonField& field) { return {float_from(field)}; }
Value flag_value(const JsonField& field) { return {field.flag()}; }

}  // namespace

std::optional<TensorMeta> Scope::find_meta(const std::string& name) const {
  const auto found = metas_.find(name);
  return found ? std::optional(tensor_meta_from(*found)) : std::nullopt;
}

const Value& Scope::value(const std::string& name, const JsonField& field) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  if (const auto absent = absent_.find(name); absent != absent_.end()) {
    field.refuse(fmt::format("'{}' has no value: {} gives its first result alone", printable(name),
                             absent->second));
  }
  field.refuse(fmt::format("'{}' has no value", printable(name)));
}

Value Scope::symbol(const JsonField& field) const {
  if (const auto number = field.find("as_int")) return integer_value(*number);
  if (const auto flag = field.find("as_bool")) return flag_value(*flag);
  if (const auto number = field.find("as_float")) return float_value(*number);
  return value(field["as_name"].text(), field);
}

Value Scope::argument(const JsonField& argument) const {
  const auto list = [&](const JsonField& field, auto&& each) {
    Values values;
    for (const auto& element : field.elements()) values.push_back(each(element));
    return Value{std::move(values)};
  };
  const auto tensor = [&](const JsonField& f) { return value(f["name"].text(), f); };
  const auto maybe_tensor = [&](const JsonField& f) {
    const auto found = f.find("as_tensor");
    return found ? tensor(*found) : Value{};
  };
  const auto of_symbol = [&](const JsonField& f) { return symbol(f); };
  if (argument.object().size() != 1) argument.refuse("an argument is of one kind");
  const auto kind = argument.object().begin().key();
  const auto field = argument.find(kind);
  if (!field || kind == "as_none") return {};
  if (kind == "as_tensor") return tensor(*field);
  if (kind == "as_tensors") return list(*field, tensor);
  if (kind == "as_optional_tensor") return maybe_tensor(*field);
  if (kind == "as_optional_tensors") return list(*field, maybe_tensor);
  if (kind == "as_int") return integer_value(*field);
  if (kind == "as_ints") return list(*field, integer_value);
  if (kind == "as_float") return float_value(*field);
  if (kind == "as_floats") return list(*field, float_value);
  if (kind == "as_bool") return flag_value(*field);
  if (kind == "as_bools") return list(*field, flag_value);
  if (kind == "as_string") return {field->text()};
  if (kind == "as_sym_int" || kind == "as_sym_bool" || kind == "as_sym_float") {
    return symbol(*field);
  }
  if (kind == "as_sym_ints" || kind == "as_sym_floats") return list(*field, of_symbol);
  if (kind == "as_scalar_type") return {dtype_from_number(*field)};
  if (kind == "as_device" || kind == "as_layout" || kind == "as_memory_format") return {};
  argument.refuse(fmt::format("arguments '{}' are not covered", printable(kind)));
}

}  // namespace assay::models::pt2
