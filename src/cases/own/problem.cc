// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/problem.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/hash.h"
#include "base/names.h"
#include "tensor/npy.h"

namespace assay::cases::own {
namespace {

constexpr auto kFillNames = make_names<Fill>({{Fill::kUniform, "uniform"},
                                              {Fill::kNormal, "normal"},
                                              {Fill::kBelow, "below"},
                                              {Fill::kPermutation, "permutation"},
                                              {Fill::kConstant, "constant"},
                                              {Fill::kFile, "file"}});
constexpr std::size_t kLongestStream = 7;  // lab::input_stream

// The largest integer that the dtype holds, as a double (rounded for 64 bits).
double largest_of(DType dtype) {
  return visit_dtype(dtype, []<typename T>(std::type_identity<T>) -> double {
    if constexpr (std::is_integral_v<T>) return static_cast<double>(std::numeric_limits<T>::max());
    return 0;
  });
}
double smallest_of(DType dtype) {
  return visit_dtype(dtype, []<typename T>(std::type_identity<T>) -> double {
    if constexpr (std::is_integral_v<T>) return static_cast<double>(std::numeric_limits<T>::min());
    return 0;
  });
}

// The largest finite value of a floating-point dtype.
double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 65504;
    case DType::kF32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

// Values between these are finite, and so is the width that they are drawn from: an input that is
// all infinite judges nothing.
void check_range(DType dtype, double low, double high) {
  const double largest = largest_finite(dtype);
  if (!(low >= -largest && high <= largest && std::isfinite(high - low))) {
    fail("dtype {} does not hold all values from {} to {}", assay::name_of(dtype), low, high);
  }
}

Json tensor_to_json(const TensorSpec& tensor) {
  Json shape = Json::array();
  for (const auto& extent : tensor.shape) shape.push_back(extent.text());
  return {{"name", tensor.name}, {"shape", shape}, {"dtype", tensor.dtype}};
}

void read_tensor(const Json& json, std::string_view what, TensorSpec& tensor) {
  tensor.name = json_field<std::string>(json, "name", what);
  for (const auto& extent : json_field<Json>(json, "shape", what)) {
    tensor.shape.emplace_back(extent.get<std::string>());
  }
  tensor.dtype = json_field<std::string>(json, "dtype", what);
}

}  // namespace

std::string_view name_of(Fill fill) { return kFillNames[fill]; }
Fill fill_from_name(std::string_view name, std::string_view what) {
  for (const Fill fill : {Fill::kUniform, Fill::kNormal, Fill::kBelow, Fill::kPermutation,
                          Fill::kConstant, Fill::kFile}) {
    if (name_of(fill) == name) return fill;
  }
  fail("{}: unknown way to fill a tensor: '{}'", what, name);
}

Shape TensorSpec::shape_at(const Json& point) const {
  std::vector<std::int64_t> extents;
  for (const auto& expression : shape) {
    extents.push_back(expression.integer(point));
    if (extents.back() < 1) {
      fail("expression '{}': an extent must be at least 1, got {}", expression.text(),
           extents.back());
    }
  }
  return Shape(extents);
}

DType TensorSpec::dtype_at(const Json& point) const {
  const auto parameter = point.find(dtype);
  std::string said = dtype;
  if (parameter != point.end()) {
    if (!parameter->is_string()) fail("parameter '{}' is no dtype: {}", dtype, parameter->dump());
    said = parameter->get<std::string>();
  }
  const DType found = dtype_from_name(said, "dtype");
  if (is_complex(found) || found == DType::kBF16) {
    fail("tensors of a case file are bool, u8 … i64, f16, f32 or f64, got '{}'", said);
  }
  return found;
}

double TensorSpec::bytes_at(const Json& point) const {
  return static_cast<double>(shape_at(point).element_count()) *
         static_cast<double>(size_of(dtype_at(point)));
}

std::string InputSpec::stream() const {
  return name.size() <= kLongestStream ? name : short_hash(name).substr(0, kLongestStream);
}

void InputSpec::check_at(const Json& point) const {
  const DType type = dtype_at(point);
  const Shape form = shape_at(point);
  const auto type_name = assay::name_of(type);
  switch (fill) {
    case Fill::kUniform:
    case Fill::kNormal:
      if (!is_floating(type)) {
        fail("an input of dtype {} needs below, permutation, constant or file", type_name);
      }
      check_range(type, fill == Fill::kUniform ? low : mean - 6 * deviation,
                  fill == Fill::kUniform ? high : mean + 6 * deviation);
      break;
    case Fill::kBelow: {
      if (is_floating(type)) fail("below is for integers and bool, the dtype is {}", type_name);
      const std::int64_t bound = below.integer(point);
      if (bound < 1 || static_cast<std::uint64_t>(bound) > kLargestBound) {
        fail("below must be from 1 to 2^32, got {}", bound);
      }
      if (static_cast<double>(bound - 1) > largest_of(type)) {
        fail("dtype {} does not hold what is below {}", type_name, bound);
      }
      break;
    }
    case Fill::kPermutation:
      if (!is_integer(type) || form.rank() != 1) {
        fail("a permutation has one axis and an integer dtype, got {} {}", type_name,
             form.to_string());
      }
      if (static_cast<double>(form.element_count() - 1) > largest_of(type)) {
        fail("dtype {} does not hold a permutation of {}", type_name, form.element_count());
      }
      break;
    case Fill::kConstant:
      if (!is_floating(type) && (constant != std::floor(constant) || constant > largest_of(type) ||
                                 constant < smallest_of(type))) {
        fail("dtype {} does not hold the constant {}", type_name, constant);
      }
      break;
    case Fill::kFile: {
      const NpyFile values(file);
      if (values.view().dtype() != type || values.view().shape() != form) {
        fail("'{}' holds {} {}, not {} {}", file, assay::name_of(values.view().dtype()),
             values.view().shape().to_string(), type_name, form.to_string());
      }
      break;
    }
  }
}

Json problem_to_json(const Problem& problem) {
  Json inputs = Json::array(), outputs = Json::array();
  for (const auto& input : problem.inputs) {
    Json json = tensor_to_json(input);
    json["stream"] = input.stream();
    json["fill"] = name_of(input.fill);
    switch (input.fill) {
      case Fill::kUniform:
        json["low"] = input.low;
        json["high"] = input.high;
        break;
      case Fill::kNormal:
        json["mean"] = input.mean;
        json["deviation"] = input.deviation;
        break;
      case Fill::kBelow:
        json["below"] = input.below.text();
        break;
      case Fill::kPermutation:
        break;
      case Fill::kConstant:
        json["constant"] = input.constant;
        break;
      case Fill::kFile:
        json["file"] = input.file;
        break;
    }
    inputs.push_back(std::move(json));
  }
  for (const auto& output : problem.outputs) outputs.push_back(tensor_to_json(output));
  return {{"inputs", inputs}, {"outputs", outputs}};
}

Problem problem_from_json(const Json& json, std::string_view what) {
  Problem problem;
  for (const auto& from : json_field<Json>(json, "inputs", what)) {
    auto& input = problem.inputs.emplace_back();
    read_tensor(from, what, input);
    input.fill = fill_from_name(json_field<std::string>(from, "fill", what), what);
    const auto number = [&](const char* key, double& value) {
      if (from.contains(key)) value = json_field<double>(from, key, what);
    };
    number("low", input.low);
    number("high", input.high);
    number("mean", input.mean);
    number("deviation", input.deviation);
    number("constant", input.constant);
    if (input.fill == Fill::kBelow) {
      input.below = Expression(json_field<std::string>(from, "below", what));
    }
    if (input.fill == Fill::kFile) input.file = json_field<std::string>(from, "file", what);
  }
  for (const auto& from : json_field<Json>(json, "outputs", what)) {
    read_tensor(from, what, problem.outputs.emplace_back());
  }
  return problem;
}

}  // namespace assay::cases::own
