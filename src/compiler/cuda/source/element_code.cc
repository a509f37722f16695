// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/element_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace assay::compiler::cuda {
namespace {

std::string rounded(DType dtype, const std::string& x) {
  if (dtype == DType::kBF16) return fmt::format("to_bf16({})", x);
  if (dtype == DType::kF16) return fmt::format("to_f16({})", x);
  return x;
}

std::string literal(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::kF32:
      return fmt::format("f32_of(0x{:x}u)", bits & 0xffffffffU);
    case DType::kBF16:
      return fmt::format("f32_of(0x{:x}u)", (bits & 0xffffU) << 16);
    case DType::kF16:
      return fmt::format("f16_value((u16)0x{:x})", bits & 0xffffU);
    case DType::kF64:
      return fmt::format("f64_of(0x{:x}ull)", bits);
    case DType::kI32:
      return fmt::format("(int)0x{:x}u", bits & 0xffffffffU);
    case DType::kI64:
      return fmt::format("(i64)0x{:x}ull", bits);
    default:
      return (bits & 1) != 0 ? "true" : "false";
  }
}

bool is_wide_float(DType dtype) { return dtype == DType::kF64; }

}  // namespace

ElementCode::ElementCode(const Kernel& kernel, const Region& region, const SymbolNames& names,
                         std::optional<std::string> first)
    : kernel_(kernel), region_(region), names_(names), first_(std::move(first)) {
  for (std::uint32_t i = 0; i < region.values.size(); ++i) {
    int depth = 0;
    for (const auto operand : region.values[i].values) depth = std::max(depth, depths_[operand]);
    depths_.push_back(depth + (is_reduction(i) ? 1 : 0));
    most_depth_ = std::max(most_depth_, depths_.back());
  }
}

bool ElementCode::is_reduction(std::uint32_t value) const {
  const auto op = region_.values[value].op;
  return op == Op::kSum || op == Op::kMaxReduce;
}

std::string ElementCode::cast(DType from, DType to, const std::string& x) const {
  if (from == to) return x;
  const auto f = [&](const char* name) { return fmt::format("{}({})", name, x); };
  switch (to) {
    case DType::kBool:
      return fmt::format("({} != 0)", x);
    case DType::kBF16:
      return f("to_bf16");
    case DType::kF16:
      return f("to_f16");
    case DType::kF32:
      return fmt::format("(float)({})", x);
    case DType::kF64:
      return fmt::format("(double)({})", x);
    case DType::kI32:
      return is_floating(from) ? fmt::format("to_i32((double)({}))", x)
                               : fmt::format("(int)({})", x);
    default:
      return is_floating(from) ? fmt::format("to_i64((double)({}))", x)
                               : fmt::format("(i64)({})", x);
  }
}

std::string ElementCode::expression(const Region::Value& value,
                                    const std::vector<std::string>& x) const {
  const bool is_wide = is_wide_float(value.dtype), floats = is_floating(value.dtype);
  const auto call = [&](const char* narrow, const char* wide) {
    return rounded(value.dtype, fmt::format("{}({})", is_wide ? wide : narrow, x[0]));
  };
  switch (value.op) {
    case Op::kExp2:
      return call("exp2f", "exp2");
    case Op::kLog2:
      return call("log2f", "log2");
    case Op::kSin:
      return call("sinf", "sin");
    case Op::kSqrt:
      return call("sqrtf", "sqrt");
    case Op::kRecip:
      return rounded(value.dtype, fmt::format("({} / {})", is_wide ? "1.0" : "1.0f", x[0]));
    case Op::kAdd:
      if (floats) return rounded(value.dtype, fmt::format("({} + {})", x[0], x[1]));
      if (value.dtype == DType::kBool) return fmt::format("({} || {})", x[0], x[1]);
      return fmt::format("add_wrapped({}, {})", x[0], x[1]);
    case Op::kMul:
      if (floats) return rounded(value.dtype, fmt::format("({} * {})", x[0], x[1]));
      if (value.dtype == DType::kBool) return fmt::format("({} && {})", x[0], x[1]);
      return fmt::format("mul_wrapped({}, {})", x[0], x[1]);
    case Op::kDiv:
      return rounded(value.dtype, fmt::format("({} / {})", x[0], x[1]));
    case Op::kMod:
      return rounded(value.dtype, fmt::format("remainder_of({}, {})", x[0], x[1]));
    case Op::kLess:
      return fmt::format("({} < {})", x[0], x[1]);
    case Op::kMax:
      return fmt::format("greatest({}, {})", x[0], x[1]);
    case Op::kSelect:
      return fmt::format("({} ? {} : {})", x[0], x[1], x[2]);
    default:
      throw InternalError("an elementwise primitive");
  }
}

std::string ElementCode::gathered(const Region::Value& value, const std::string& index,
                                  const std::string& to) const {
  const auto& view = value.access.view;
  const auto count = names_.code(product(view.shape));
  std::string out =
      fmt::format("{{ const i64 g = min_of(max_of((i64)({}), 0), {} - 1);\n", index, count);
  if (view.is_contiguous()) {
    out += fmt::format("{} = wide(o{}[{} + g]); }}\n", to, value.access.operand,
                       names_.code(view.offset));
    return out;
  }
  std::vector<std::string> indices;
  for (std::size_t i = 0; i < view.rank(); ++i) indices.push_back(fmt::format("g{}", i));
  out += unflattened(names_, view.shape, "g", "g");
  return out + fmt::format("{} = wide(o{}[{}]); }}\n", to, value.access.operand,
                           place(names_, view, indices));
}

// A value at one place. `column`: of a value for each element, the place along the last axis.
std::string ElementCode::scalar(std::uint32_t number, const At& at, const std::string& to,
                                const std::string& lane) const {
  const auto& value = region_.values[number];
  std::vector<std::string> x;
  for (const auto operand : value.values) {
    const bool is_array = !region_.values[operand].of_row;
    x.push_back(fmt::format("v{}{}", operand, is_array ? lane : ""));
  }
  auto indices = at.row;
  if (!value.of_row) {
    indices.push_back(at.lanes == 1 ? at.column : fmt::format("({} + e)", at.column));
  }
  if (number == 0 && first_) return fmt::format("{} = {};\n", to, *first_);
  switch (value.op) {
    case Op::kInput:
      return fmt::format("{} = wide(o{}[{}]);\n", to, value.access.operand,
                         place(names_, value.access.view, indices));
    case Op::kConst:
      return fmt::format("{} = {};\n", to, literal(value.dtype, value.bits));
    case Op::kIota:
      return fmt::format("{} = {};\n", to,
                         cast(DType::kI64, value.dtype,
                              fmt::format("(i64)({})", place(names_, value.access.view, indices))));
    case Op::kCast:
      return fmt::format("{} = {};\n", to,
                         cast(region_.values[value.values[0]].dtype, value.dtype, x[0]));
    case Op::kGather:
      return gathered(value, x[0], to);
    default:
      return fmt::format("{} = {};\n", to, expression(value, x));
  }
}

std::string ElementCode::row_values(int depth, const At& at) const {
  std::string out;
  for (std::uint32_t i = 0; i < region_.values.size(); ++i) {
    const auto& value = region_.values[i];
    if (!value.of_row || depths_[i] != depth || is_reduction(i)) continue;
    out += fmt::format("{} v{};\n", wide_type(value.dtype), i);
    out += scalar(i, at, fmt::format("v{}", i), "");
  }
  return out;
}

std::string ElementCode::elements(const std::vector<std::uint32_t>& numbers, const At& at) const {
  std::vector<bool> is_needed(region_.values.size());
  for (const auto number : numbers) is_needed[number] = true;
  for (auto i = static_cast<std::uint32_t>(is_needed.size()); i-- > 0;) {
    if (!is_needed[i] || region_.values[i].of_row) continue;
    for (const auto operand : region_.values[i].values) is_needed[operand] = true;
  }
  std::string out;
  for (std::uint32_t i = 0; i < is_needed.size(); ++i) {
    const auto& value = region_.values[i];
    if (!is_needed[i] || value.of_row) continue;
    const auto type = wide_type(value.dtype);
    if (at.lanes == 1) {
      out += fmt::format("{} v{}[1];\n", type, i) + scalar(i, at, fmt::format("v{}[0]", i), "[0]");
      continue;
    }
    const bool is_read = value.op == Op::kInput && !(i == 0 && first_);
    const auto& strides = value.access.view.strides;
    out += fmt::format("{} v{}[{}];\n", type, i, at.lanes);
    if (is_read && strides.back().is(1)) {
      auto indices = at.row;
      indices.push_back(at.column);
      out += fmt::format(
          "{{ __align__(16) {0} raw[{1}]; load<{1}>(raw, o{2} + ({3}));\n_Pragma(\"unroll\") for "
          "(int e = 0; e < {1}; ++e) v{4}[e] = wide(raw[e]); }}\n",
          storage_type(value.dtype), at.lanes, value.access.operand,
          place(names_, value.access.view, indices), i);
      continue;
    }
    out += fmt::format("_Pragma(\"unroll\") for (int e = 0; e < {}; ++e) {{ {} }}\n", at.lanes,
                       scalar(i, at, fmt::format("v{}[e]", i), "[e]"));
  }
  return out;
}

std::vector<std::uint32_t> ElementCode::stored_elements() const {
  std::vector<std::uint32_t> all;
  for (const auto& store : region_.stores) {
    if (!region_.values[store.value].of_row) all.push_back(store.value);
  }
  return all;
}

std::vector<std::uint32_t> ElementCode::reductions(int depth) const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < region_.values.size(); ++i) {
    if (is_reduction(i) && depths_[i] == depth + 1) all.push_back(i);
  }
  return all;
}

std::string ElementCode::stores(bool of_row, const At& at) const {
  std::string out;
  for (const auto& [number, to] : region_.stores) {
    const auto& value = region_.values[number];
    if (value.of_row != of_row) continue;
    auto indices = at.row;
    if (of_row) {
      out +=
          fmt::format("put(o{}[{}], v{});\n", to.operand, place(names_, to.view, indices), number);
      continue;
    }
    indices.push_back(at.column);
    if (at.lanes > 1 && to.view.strides.back().is(1)) {
      out += fmt::format(
          "{{ __align__(16) {0} raw[{1}];\n_Pragma(\"unroll\") for (int e = 0; e < {1}; ++e) "
          "put(raw[e], "
          "v{2}[e]);\nstore<{1}>(o{3} + ({4}), raw); }}\n",
          storage_type(value.dtype), at.lanes, number, to.operand, place(names_, to.view, indices));
      continue;
    }
    if (at.lanes == 1) {
      out += fmt::format("put(o{}[{}], v{}[0]);\n", to.operand, place(names_, to.view, indices),
                         number);
      continue;
    }
    indices.back() = fmt::format("({} + e)", at.column);
    out += fmt::format("for (int e = 0; e < {}; ++e) put(o{}[{}], v{}[e]);\n", at.lanes, to.operand,
                       place(names_, to.view, indices), number);
  }
  return out;
}

}  // namespace assay::compiler::cuda
