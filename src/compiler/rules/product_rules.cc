// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Products: sums of products, the experts' form of them, and the algebra that brings operands into
// their places.
#include <cmath>

#include "base/error.h"
#include "compiler/graph/compose.h"
#include "compiler/rules/positions.h"
#include "compiler/rules/product_axes.h"
#include "compiler/rules/tensor_rules.h"

namespace assay::compiler {
namespace {

using egraph::ClassId;

egraph::Query query_of(TensorEGraph& terms, std::string_view pattern) {
  return egraph::Query({{"?root", egraph::parse_term(pattern, terms.vocabulary())}});
}

struct Source {
  ClassId id = 0;
  View view;
};
// What a cast from 16 bits to f32 reads: exact, so that products of it are what they were.
Source without_cast(const TensorEGraph& terms, ClassId id, const View& view) {
  const auto cast = terms.node_of(id, Op::kCast);
  if (!cast || terms.facts(id).dtype != DType::kF32) return {id, view};
  const auto from = terms.facts(cast->children[0]).dtype;
  if (from != DType::kF16 && from != DType::kBF16) return {id, view};
  const auto through = compose(view, terms.attributes(cast->payload).views[0], terms.symbols());
  if (!through) return {id, view};
  return {cast->children[0], *through};
}

TensorRule made_rule(
    std::string family, std::string name, std::string note, egraph::Query query,
    std::function<std::optional<ClassId>(egraph::EGraph&, const egraph::Match&)> make) {
  return {std::move(family),
          {.name = std::move(name),
           .note = std::move(note),
           .query = std::move(query),
           .guard = {},
           .result = {},
           .make = std::move(make)}};
}

}  // namespace

TensorRule product_rule(TensorEGraph& terms, const Mistakes& mistakes) {
  auto query = query_of(terms, "(sum[?s] (mul[?m] ?a ?b))");
  const auto s = query.payload_index("?s"), m = query.payload_index("?m");
  const auto ia = query.class_index("?a"), ib = query.class_index("?b");
  auto make = [=, &terms](egraph::EGraph& graph,
                          const egraph::Match& match) -> std::optional<ClassId> {
    const auto &sum = terms.attributes(match.payloads[s]),
               &mul = terms.attributes(match.payloads[m]);
    // Of integers no runtime has products of its own; regions are good at them.
    if (sum.dtype != DType::kF32 && sum.dtype != DType::kF64) return std::nullopt;
    auto a = compose(sum.views[0], mul.views[0], terms.symbols());
    auto b = compose(sum.views[0], mul.views[1], terms.symbols());
    if (!a || !b) return std::nullopt;
    const auto x = without_cast(terms, match.classes[ia], *a);
    const auto y = without_cast(terms, match.classes[ib], *b);
    if (!matmul_of(x.view, y.view, sum.dtype)) return std::nullopt;
    TermAttributes attributes;
    attributes.dtype = sum.dtype;
    attributes.shape = sum.shape;
    attributes.views = {x.view, y.view};
    if (mistakes.swaps_product) attributes.views[1] = y.view.reverse(y.view.rank() - 1);
    attributes.rules = {"matmul"};
    const auto op = static_cast<egraph::Operator>(Found::kProduct);
    const std::vector<ClassId> children = {x.id, y.id};
    return graph.add(op, children, terms.payload(op, std::move(attributes)));
  };
  return made_rule("matmul", "matmul",
                   "the same products in another order, in the sum's dtype; 16-bit operands are "
                   "exact in f32",
                   std::move(query), std::move(make));
}

TensorRule grouped_rule(TensorEGraph& terms, const Mistakes& mistakes) {
  auto query =
      query_of(terms, "(product[?p] ?x (gather[?g] ?w (add[?a] (mul[?m] ?expert ?size) ?within)))");
  const auto p = query.payload_index("?p"), g = query.payload_index("?g"),
             a = query.payload_index("?a"), m = query.payload_index("?m");
  const auto x = query.class_index("?x"), w = query.class_index("?w"),
             expert = query.class_index("?expert"), size = query.class_index("?size"),
             within = query.class_index("?within");
  auto make = [=, &terms](egraph::EGraph& graph,
                          const egraph::Match& match) -> std::optional<ClassId> {
    const auto &product = terms.attributes(match.payloads[p]),
               &gather = terms.attributes(match.payloads[g]),
               &add = terms.attributes(match.payloads[a]),
               &mul = terms.attributes(match.payloads[m]);
    // [r, n] = Σ_k x[r, ·, k] · own[r, n, k], own gathered as [r, k, n].
    if (product.shape.size() != 2 || gather.shape.size() != 3) return std::nullopt;
    const auto &r = gather.shape[0], &k = gather.shape[1], &n = gather.shape[2];
    const auto own = View::contiguous(gather.shape).permute({0, 2, 1});
    const auto& rows = product.views[0];
    if (!(product.views[1] == own) || !rows.strides[1].is(0)) return std::nullopt;
    // The weights as a whole, [experts, k, n], and the index: expert · (k·n) + position.
    const auto& weights = gather.views[0];
    if (weights.rank() != 3 || !(weights.shape[1] == k) || !(weights.shape[2] == n)) {
      return std::nullopt;
    }
    const auto count = weights.shape[0].constant();
    if (!count || terms.constant_of(match.classes[size]) !=
                      static_cast<double>((k * n).constant().value_or(-1))) {
      return std::nullopt;
    }
    if (!(gather.views[1] == View::contiguous(add.shape)) || !(add.shape == gather.shape)) {
      return std::nullopt;
    }
    const auto position = linear_of(terms, match.classes[within], add.views[1]);
    View want = View::contiguous({k, n}).insert(0, r);
    if (!position || !(*position == want)) return std::nullopt;
    const auto of_row = compose(add.views[0], mul.views[0], terms.symbols());
    if (!of_row || !(of_row->strides[1].is(0) || k.is(1)) || !(of_row->strides[2].is(0) || n.is(1)))
      return std::nullopt;
    const auto interval = terms.facts(match.classes[expert]).interval;
    if (interval.low < 0 || interval.high >= *count) return std::nullopt;
    // The index of the last weight is held by its dtype: integers wrap around.
    if (!is_held(add.dtype, reach_of(View::contiguous(weights.shape), terms.symbols()))) {
      return std::nullopt;
    }
    TermAttributes attributes;
    attributes.dtype = product.dtype;
    attributes.shape = product.shape;
    View rows_view = rows;
    rows_view.shape.erase(rows_view.shape.begin() + 1);
    rows_view.strides.erase(rows_view.strides.begin() + 1);
    View expert_view;
    expert_view.shape = {r};
    expert_view.strides = {of_row->strides[0]};
    expert_view.offset = of_row->offset;
    View weights_view = weights;
    if (mistakes.expert_stride != 0) {
      weights_view.strides[0] = weights_view.strides[0] - mistakes.expert_stride;
    }
    attributes.views = {rows_view, weights_view, expert_view};
    attributes.rules = {"matmul", "expert-matmul"};
    const auto op = static_cast<egraph::Operator>(Found::kGrouped);
    const std::vector<ClassId> children = {match.classes[x], match.classes[w],
                                           match.classes[expert]};
    return graph.add(op, children, terms.payload(op, std::move(attributes)));
  };
  return made_rule("experts", "expert-matmul",
                   "each row is multiplied by its own matrix where that lies; the interval of the "
                   "experts' numbers lies within their count, so that nothing is clamped",
                   std::move(query), std::move(make));
}

namespace {

// Whether it is ±2ᵏ, and so near 1 that every dtype has its inverse among its normal numbers.
bool is_power_of_two(double x) {
  int exponent = 0;
  return std::abs(std::frexp(x, &exponent)) == 0.5 && std::abs(exponent - 1) <= 14;
}

// Quotients that are something cheaper, bit for bit.
std::vector<TensorRule> quotient_rules(TensorEGraph& terms) {
  const auto rule = [&](std::string name, std::string note, auto make) {
    auto query = query_of(terms, "(div[?p] ?a ?b)");
    const auto p = query.payload_index("?p");
    const auto a = query.class_index("?a"), b = query.class_index("?b");
    auto of_match = [=, &terms](egraph::EGraph&, const egraph::Match& match) {
      return make(terms.attributes(match.payloads[p]), match.classes[a], match.classes[b]);
    };
    return made_rule("algebra", std::move(name), std::move(note), std::move(query),
                     std::move(of_match));
  };
  const auto added = [&terms](Op op, const TermAttributes& attributes,
                              const std::vector<ClassId>& children) -> std::optional<ClassId> {
    const auto number = static_cast<egraph::Operator>(op);
    return terms.terms().add(number, children, terms.payload(number, attributes));
  };
  std::vector<TensorRule> rules;
  rules.push_back(
      rule("div-by-power-of-two", "x / 2ᵏ and x · 2⁻ᵏ are one number before they are rounded",
           [=, &terms](TermAttributes of, ClassId a, ClassId b) -> std::optional<ClassId> {
             const auto divisor = terms.constant_of(b);
             if (!divisor || !is_power_of_two(*divisor)) return std::nullopt;
             return added(Op::kMul, of, {a, terms.constant(of.dtype, 1 / *divisor)});
           }));
  rules.push_back(
      rule("div-of-one", "1 / x is what the reciprocal is, rounded once",
           [=, &terms](TermAttributes of, ClassId a, ClassId b) -> std::optional<ClassId> {
             if (terms.constant_of(a) != 1) return std::nullopt;
             of.views.erase(of.views.begin());
             return added(Op::kRecip, of, {b});
           }));
  return rules;
}

}  // namespace

std::vector<TensorRule> algebra_rules(TensorEGraph& terms) {
  std::vector<TensorRule> rules;
  for (const std::string op : {"add", "mul", "max"}) {
    auto query = query_of(terms, fmt::format("({}[?p] ?a ?b)", op));
    const auto p = query.payload_index("?p");
    const auto a = query.class_index("?a"), b = query.class_index("?b");
    const auto number = terms.vocabulary().op(op);
    auto make = [=, &terms](egraph::EGraph& graph,
                            const egraph::Match& match) -> std::optional<ClassId> {
      auto attributes = terms.attributes(match.payloads[p]);
      std::swap(attributes.views[0], attributes.views[1]);
      const std::vector<ClassId> children = {match.classes[b], match.classes[a]};
      return graph.add(number, children, terms.payload(number, std::move(attributes)));
    };
    rules.push_back(made_rule("algebra", op + "-commutes",
                              "addition, multiplication and the greater of two do not mind the "
                              "order of two operands, rounding included",
                              std::move(query), std::move(make)));
  }
  for (auto& rule : quotient_rules(terms)) rules.push_back(std::move(rule));
  return rules;
}

}  // namespace assay::compiler
