// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/plans.h"

#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/units.h"
#include "bindings/argument.h"

namespace assay::python {

namespace nb = nanobind;

bool knows_home() {
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  return is_set("HOME") || is_set("ASSAY_MACHINE_DIR") || is_set("XDG_STATE_HOME");
}

einsum::CallOptions call_options(nb::handle dtype, nb::handle memory, nb::handle objective) {
  einsum::CallOptions options;
  if (!dtype.is_none()) options.dtype = dtype_from_name(text_argument(dtype, "dtype"), "dtype");
  if (nb::isinstance<nb::str>(memory)) {
    options.memory = parse_bytes(text_argument(memory, "memory"), "memory");
  } else if (!memory.is_none()) {
    std::uint64_t bytes = 0;
    const bool fits = nb::try_cast(memory, bytes);
    if (!fits && PyLong_Check(memory.ptr())) {
      fail("memory: a number of bytes is at least 0 and has 64 bits, got {}", shown(memory));
    }
    if (!fits) refuse_type(memory, "memory", "a number of bytes or a str");
    options.memory = bytes;
  }
  if (!objective.is_none()) {
    options.objective = einsum::objective_from_name(text_argument(objective, "objective"));
  }
  return options;
}

einsum::OperandSpec spec_of_shape(nb::handle shape) {
  std::vector<std::int64_t> extents;
  if (!nb::try_cast(shape, extents)) {
    throw nb::type_error(
        fmt::format("a shape is a tuple of whole numbers of 64 bits, not {}", shown(shape))
            .c_str());
  }
  return einsum::OperandSpec::dense(DType::kF64, Shape(extents));
}

std::vector<std::vector<std::size_t>> linear_path(const einsum::Plan& plan) {
  std::vector<int> left(plan.operands.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<int>(i);
  std::vector<std::vector<std::size_t>> path;
  int made = static_cast<int>(left.size());
  for (const auto& [a, b] : plan.path.tree.merges) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i] == a || left[i] == b) places.push_back(i);
    }
    std::erase_if(left, [&](int node) { return node == a || node == b; });
    left.push_back(made++);
    path.push_back(std::move(places));
  }
  if (left.size() > 1 || path.empty()) {
    path.emplace_back();
    for (std::size_t i = 0; i < left.size(); ++i) path.back().push_back(i);
  }
  return path;
}

}  // namespace assay::python
