// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/rules/positions.h"

#include <algorithm>
#include <cmath>

#include "compiler/graph/compose.h"

namespace assay::compiler {
namespace {

using egraph::ClassId;

// a + b · factor, of one shape.
View combined(View a, const View& b, const Dim& factor) {
  a.offset += b.offset * factor;
  for (std::size_t i = 0; i < a.rank(); ++i) a.strides[i] += b.strides[i] * factor;
  return a;
}
View number_view(const View& view, const Dim& value) {
  View number;
  number.shape = view.shape;
  number.strides.assign(view.rank(), Dim(0));
  number.offset = value;
  return number;
}
std::optional<Dim> integer_constant(const TensorEGraph& terms, ClassId id) {
  const auto value = terms.constant_of(id);
  if (!value || std::abs(*value) >= 0x1p53) return std::nullopt;  // or it may be another's
  return Dim(static_cast<std::int64_t>(*value));
}

}  // namespace

double reach_of(const View& view, const Symbols& symbols) {
  const auto size = [&](const Dim& dim) {
    const auto range = dim.range(symbols);
    return std::max(std::abs(static_cast<double>(range.low)),
                    std::abs(static_cast<double>(range.high)));
  };
  double reach = size(view.offset);
  for (std::size_t i = 0; i < view.rank(); ++i) {
    if (!view.strides[i].is(0)) reach += size(view.strides[i]) * size(view.shape[i]);
  }
  return reach;
}
bool is_held(DType dtype, double reach) {
  return reach <
         (size_of(dtype) == 8 ? 0x1p61 : std::exp2(8.0 * static_cast<double>(size_of(dtype)) - 1));
}

namespace {

// How many terms are looked at: masks of models have a dozen, and one that is made of itself again
// and again is visited as often as it is written out.
constexpr int kMostTerms = 200;

std::optional<View> linear_of(const TensorEGraph& terms, ClassId id, const View& view, int& left) {
  if (--left < 0) return std::nullopt;
  // An axis of extent 1 has position 0 alone.
  const auto& facts = terms.facts(id);
  if (is_floating(facts.dtype) || facts.dtype == DType::kBool) return std::nullopt;
  const auto is_safe = [&](double reach) { return is_held(facts.dtype, reach); };
  const auto reach = [&](const View& numbers) { return reach_of(numbers, terms.symbols()); };
  if (const auto value = integer_constant(terms, id)) return number_view(view, *value);
  if (terms.node_of(id, Op::kIota)) {
    if (!is_safe(reach(view))) return std::nullopt;
    return view;
  }
  const auto child = [&](const egraph::NodeView& node, std::size_t i) -> std::optional<View> {
    const auto through = compose(view, terms.attributes(node.payload).views[i], terms.symbols());
    if (!through) return std::nullopt;
    return linear_of(terms, node.children[i], *through, left);
  };
  if (const auto node = terms.node_of(id, Op::kAdd)) {
    const auto a = child(*node, 0), b = child(*node, 1);
    if (a && b && is_safe(reach(*a) + reach(*b))) return combined(*a, *b, 1);
  }
  if (const auto node = terms.node_of(id, Op::kMul)) {
    for (const std::size_t i : {0, 1}) {
      const auto factor = integer_constant(terms, node->children[i]);
      const auto a = factor ? child(*node, 1 - i) : std::nullopt;
      if (a && is_safe(reach(*a) * reach(number_view(*a, *factor)))) {
        return combined(number_view(*a, 0), *a, *factor);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::vector<View>> conditions_of(const TensorEGraph& terms, ClassId id,
                                               const View& view, int& left) {
  if (terms.facts(id).dtype != DType::kBool || --left < 0) return std::nullopt;
  const auto through = [&](const egraph::NodeView& node, std::size_t i) {
    return compose(view, terms.attributes(node.payload).views[i], terms.symbols());
  };
  if (const auto node = terms.node_of(id, Op::kLess)) {  // a < b: b − a − 1 ≥ 0
    const auto va = through(*node, 0), vb = through(*node, 1);
    if (!va || !vb) return std::nullopt;
    const auto a = linear_of(terms, node->children[0], *va, left);
    const auto b = linear_of(terms, node->children[1], *vb, left);
    if (!a || !b) return std::nullopt;
    auto condition = combined(*b, *a, -1);
    condition.offset += -1;
    return std::vector<View>{condition};
  }
  if (const auto node = terms.node_of(id, Op::kSelect)) {  // not c: −c − 1 ≥ 0
    const auto yes = terms.constant_of(node->children[1]),
               no = terms.constant_of(node->children[2]);
    const auto v = through(*node, 0);
    if (yes != 0.0 || no != 1.0 || !v) return std::nullopt;
    const auto inner = conditions_of(terms, node->children[0], *v, left);
    if (!inner || inner->size() != 1) return std::nullopt;
    auto condition = combined(number_view((*inner)[0], -1), (*inner)[0], -1);
    return std::vector<View>{condition};
  }
  if (const auto node = terms.node_of(id, Op::kMul)) {  // both
    std::vector<View> all;
    for (const std::size_t i : {0, 1}) {
      const auto v = through(*node, i);
      if (!v) return std::nullopt;
      const auto inner = conditions_of(terms, node->children[i], *v, left);
      if (!inner) return std::nullopt;
      all.insert(all.end(), inner->begin(), inner->end());
    }
    return all;
  }
  return std::nullopt;
}

}  // namespace

std::optional<View> linear_of(const TensorEGraph& terms, ClassId id, const View& view) {
  int left = kMostTerms;
  return linear_of(terms, id, view, left);
}
std::optional<std::vector<View>> conditions_of(const TensorEGraph& terms, ClassId id,
                                               const View& view) {
  int left = kMostTerms;
  return conditions_of(terms, id, view, left);
}

}  // namespace assay::compiler
