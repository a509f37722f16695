// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/tensor_meta.h"

#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "compiler/graph/graph.h"
#include "models/pt2/expression.h"

namespace assay::models::pt2 {
namespace {

struct TorchDType {
  int number;
  std::string_view name;
  std::optional<DType> dtype;  // none: graphs do not know it
};
// The numbers of torch._export.serde.schema.ScalarType.
constexpr std::array<TorchDType, 21> kTorchDTypes{{
    {1, "uint8", {}},
    {2, "int8", {}},
    {3, "int16", {}},
    {4, "int32", DType::kI32},
    {5, "int64", DType::kI64},
    {6, "float16", DType::kF16},
    {7, "float32", DType::kF32},
    {8, "float64", DType::kF64},
    {9, "complex32", {}},
    {10, "complex64", {}},
    {11, "complex128", {}},
    {12, "bool", DType::kBool},
    {13, "bfloat16", DType::kBF16},
    {28, "uint16", {}},
    {29, "float8_e4m3fn", {}},
    {30, "float8_e5m2", {}},
    {31, "float8_e4m3fnuz", {}},
    {32, "float8_e5m2fnuz", {}},
    {33, "float8_e8m0fnu", {}},
    {34, "uint32", {}},
    {35, "uint64", {}},
}};
constexpr std::size_t kMostAxes = 32;
constexpr std::int64_t kInteger = std::numeric_limits<std::int64_t>::max();

std::vector<compiler::Dim> sizes_from(const JsonField& field) {
  std::vector<compiler::Dim> sizes;
  for (const auto& size : field.elements()) sizes.push_back(size_from(size));
  if (sizes.size() > kMostAxes) field.refuse("more axes than any tensor has");
  return sizes;
}

}  // namespace

compiler::Dim size_from(const JsonField& field) {
  if (const auto number = field.find("as_int")) return number->integer(-kInteger, kInteger);
  const auto expression = field["as_expr"]["expr_str"];
  try {
    return dim_from_expression(expression.text());
  } catch (const UserError& e) {
    expression.refuse(e.what());
  }
}

DType dtype_from_number(const JsonField& field) {
  const auto number = field.integer(0, 1000);
  for (const auto& known : kTorchDTypes) {
    if (known.number != number) continue;
    if (known.dtype) return *known.dtype;
    field.refuse(fmt::format(
        "dtype {} is not covered: graphs know bool, int32, int64, float16, bfloat16, float32, "
        "float64",
        known.name));
  }
  field.refuse_value("expected the number of a dtype");
}

TensorMeta tensor_meta_from(const JsonField& field) {
  TensorMeta meta;
  meta.dtype = dtype_from_number(field["dtype"]);
  meta.shape = sizes_from(field["sizes"]);
  meta.strides = sizes_from(field["strides"]);
  meta.offset = size_from(field["storage_offset"]);
  if (meta.strides.size() != meta.shape.size()) field.refuse("sizes and strides differ in number");
  return meta;
}

double float_from(const JsonField& field) {
  const auto& value = field.value();
  if (value.is_number()) return value.get<double>();
  const auto& text = field.text();
  if (text == "Infinity") return INFINITY;
  if (text == "-Infinity") return -INFINITY;
  if (text == "NaN") return NAN;
  field.refuse_kind("a number");
}

}  // namespace assay::models::pt2
