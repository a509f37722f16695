// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The operators of ATen that exported programs may call, each as a composition of our primitives.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/pt2/call.h"

namespace assay::models::pt2 {

struct Operator {
  std::string_view name;  // "aten.add.Tensor"
  Result (*lower)(Call&);
  std::string_view note = {};  // what differs from torch, or costs more than one expects
  bool is_view = false;        // the result shares elements with argument 'self'
};
// What cannot be, and why.
struct Refused {
  std::string_view name, why;
};

// In files by kind (aten/).
std::span<const Operator> elementwise_operators();
std::span<const Operator> activation_operators();
std::span<const Operator> comparison_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> view_operators();
std::span<const Operator> part_operators();
std::span<const Operator> arrangement_operators();
std::span<const Operator> product_operators();
std::span<const Operator> convolution_operators();
std::span<const Operator> window_operators();
std::span<const Operator> indexing_operators();
std::span<const Operator> ordering_operators();
std::span<const Operator> normalisation_operators();
std::span<const Operator> creation_operators();
std::span<const Operator> symbol_operators();
std::span<const Refused> refused_operators();

// All of them, by name.
const std::vector<Operator>& covered_operators();

struct Found {
  const Operator* op = nullptr;  // null: not covered
  bool writes_self = false;      // "aten.add_.Tensor": what the operator gives is written to 'self'
};
// By a target of an archive: "torch.ops.aten.add.Tensor", "_operator.add".
Found find_operator(std::string_view target);
std::string operator_name(std::string_view target);
// Why it is refused; empty where it is merely not covered.
std::string_view refusal_of(std::string_view name);

}  // namespace assay::models::pt2
