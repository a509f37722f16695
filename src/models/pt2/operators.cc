// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/operators.h"

#include <algorithm>

namespace assay::models::pt2 {
namespace {

std::vector<Operator> sorted_operators() {
  std::vector<Operator> all;
  for (const auto part :
       {elementwise_operators(), activation_operators(), part_operators(), comparison_operators(),
        reduction_operators(), view_operators(), arrangement_operators(), product_operators(),
        convolution_operators(), window_operators(), indexing_operators(), ordering_operators(),
        normalisation_operators(), creation_operators(), symbol_operators()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  std::ranges::sort(all, {}, &Operator::name);
  return all;
}

const Operator* find_exactly(std::string_view name) {
  const auto& all = covered_operators();
  const auto found = std::ranges::lower_bound(all, name, {}, &Operator::name);
  return found != all.end() && found->name == name ? &*found : nullptr;
}

// "aten.add_.Tensor" is "aten.add.Tensor", written to its first argument; empty where it is not.
std::string without_underscore(const std::string& name) {
  const auto at = name.rfind("_.");
  if (at == std::string::npos || name.starts_with("_")) return {};
  return name.substr(0, at) + name.substr(at + 1);
}

}  // namespace

const std::vector<Operator>& covered_operators() {
  static const std::vector<Operator> all = sorted_operators();
  return all;
}

std::string operator_name(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  return std::string(target.starts_with(kPrefix) ? target.substr(kPrefix.size()) : target);
}

Found find_operator(std::string_view target) {
  const auto name = operator_name(target);
  if (const auto* op = find_exactly(name)) return {op, false};
  const auto plain = without_underscore(name);
  const auto* op = plain.empty() ? nullptr : find_exactly(plain);
  // What changes a tensor's shape in place is not among them.
  if (op == nullptr || op->is_view) return {};
  return {op, true};
}

std::string_view refusal_of(std::string_view name) {
  for (const auto& refused : refused_operators()) {
    if (refused.name == name) return refused.why;
  }
  return {};
}

}  // namespace assay::models::pt2
