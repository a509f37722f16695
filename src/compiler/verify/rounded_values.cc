// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/rounded_values.h"

#include <algorithm>
#include <cmath>

#include "tensor/view.h"

namespace assay::compiler {
namespace {

bool is_narrow(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

// Whether a node rounds more than its operands are. Of f32 only casts from f64 say something:
// kernels compute in it by ways of their own.
bool rounds(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::kCast: {
      const auto from = graph.node(node.operands[0].node).dtype;
      const bool is_from_wide = from == DType::kF64 || from == DType::kF32;
      return is_from_wide &&
             (is_narrow(node.dtype) || (node.dtype == DType::kF32 && from == DType::kF64));
    }
    case Op::kExp2:
    case Op::kLog2:
    case Op::kSin:
    case Op::kSqrt:
    case Op::kRecip:
    case Op::kAdd:
    case Op::kMul:
    case Op::kDiv:
    case Op::kSum:
      return is_narrow(node.dtype);
    default:
      return false;
  }
}

// What says nothing: it could come from anywhere, and be rounded without being changed.
bool is_telling(double value) {
  return std::isfinite(value) && value * 256 != std::trunc(value * 256);
}

}  // namespace

void RoundedValues::add(const Graph& graph, NodeId id, const TensorView& wide) {
  const auto& node = graph.node(id);
  if (!rounds(graph, node)) return;
  // Products of which only the sum is wanted are never seen (interpret.h).
  if (node.op == Op::kSum && graph.node(node.operands[0].node).op == Op::kMul) {
    has_unseen_products_.insert(node.dtype);
  }
  auto& values = values_[node.dtype];
  for (std::int64_t i = 0; i < wide.element_count(); ++i) {
    const double value = value_as_double(wide, i);
    if (is_telling(value)) values.push_back(value);
  }
}

void RoundedValues::sort() {
  for (auto& [dtype, values] : values_) {
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
}

std::optional<std::string> RoundedValues::mistake_in(const Graph& definition, NodeId id,
                                                     const TensorView& wide) const {
  const auto& node = definition.node(id);
  if (!rounds(definition, node)) return std::nullopt;
  if (node.op == Op::kMul && has_unseen_products_.contains(node.dtype)) return std::nullopt;
  constexpr std::int64_t kLooks = 400;
  // Of the value itself; of the greatest one only what cancelling leaves of it in f64.
  constexpr double kSame = 1e-9, kCancelled = 1e-13;
  const auto count = wide.element_count();
  double greatest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = std::abs(value_as_double(wide, i));
    if (std::isfinite(value)) greatest = std::max(greatest, value);
  }
  const auto known = values_.find(node.dtype);
  for (std::int64_t i = 0; i < count; i += std::max<std::int64_t>(1, count / kLooks)) {
    const double value = value_as_double(wide, i);
    if (!is_telling(value)) continue;
    if (known != values_.end()) {
      const auto& values = known->second;
      const double off = std::max(kSame * std::abs(value), kCancelled * greatest);
      const auto next = std::ranges::lower_bound(values, value - off);
      if (next != values.end() && *next <= value + off) continue;
    }
    return fmt::format("rounds to {} what the graph does not: {} of {}", name_of(node.dtype),
                       name_of(node.op), value);
  }
  return std::nullopt;
}

}  // namespace assay::compiler
