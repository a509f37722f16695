// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// softmax(scale · q kᵀ, masked) v, found from its second product backwards. Masks that depend on
// positions alone become conditions (positions.h); those that are data stay operands.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "compiler/rules/positions.h"
#include "compiler/rules/tensor_rules.h"

namespace assay::compiler {
namespace {

using egraph::ClassId;

View without_axis(View view, std::size_t axis) {
  view.shape.erase(view.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(axis));
  return view;
}
bool is_same_view(const View& a, const View& b) {
  if (!(a.shape == b.shape) || !(a.offset == b.offset)) return false;
  for (std::size_t i = 0; i < a.rank(); ++i) {
    if (!a.shape[i].is(1) && !(a.strides[i] == b.strides[i])) return false;
  }
  return true;
}

class AttentionFinder {
 public:
  AttentionFinder(TensorEGraph& terms, const Mistakes& mistakes, std::uint32_t softmax_body)
      : terms_(terms), mistakes_(mistakes), softmax_body_(softmax_body) {}

  // outer: Σ_t p[…, s, ·, t] · v[…, ·, e, t]; p the softmax of the scores, whose class is given.
  std::optional<ClassId> found(egraph::EGraph& graph, const TermAttributes& outer,
                               const TermAttributes& softmax, ClassId scores, ClassId v) const {
    const auto rank = outer.shape.size();  // […, s, e]
    if (rank < 2 || softmax.shape.size() != rank) return std::nullopt;
    if (softmax.axis != static_cast<int>(rank) - 1) return std::nullopt;
    if (!is_same_view(softmax.views[0], View::contiguous(softmax.shape))) return std::nullopt;
    // p: read in order, once for each column of v.
    const auto e = rank - 1, s = rank - 2;
    auto p = outer.views[0];
    if (!p.strides[e].is(0) && !p.shape[e].is(1)) return std::nullopt;
    if (!is_same_view(without_axis(p, e), View::contiguous(softmax.shape))) return std::nullopt;
    const auto& values = outer.views[1];  // […, s, e, t]
    if (!values.strides[s].is(0) && !values.shape[s].is(1)) return std::nullopt;
    Parts parts;
    parts.shape = softmax.shape;
    parts.children = {0, 0, v};
    auto& attention = parts.attention;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < rank - 1; ++i) order.push_back(i);
    order.push_back(rank);      // t
    order.push_back(rank - 1);  // e
    auto v_view = values.permute(order);
    attention.v = {2, without_axis(v_view, s)};
    attention.out.view = View::contiguous(outer.shape);
    attention.scale = 1;
    if (!take_scores(scores, parts)) return std::nullopt;

    TermAttributes attributes;
    attributes.dtype = outer.dtype;
    attributes.shape = outer.shape;
    attributes.rules = {"matmul", "softmax", "attention"};
    attention.scale *= mistakes_.scale;
    attention.offset += mistakes_.offset;
    if (attention.window) *attention.window += mistakes_.window;
    if (mistakes_.drops_mask) attention.mask.reset();
    if (mistakes_.drops_causal) {
      attention.causal = false;
      attention.offset = 0;
      attention.window.reset();
    }
    attributes.attention = attention;
    const auto op = static_cast<egraph::Operator>(Found::kAttention);
    return graph.add(op, parts.children, terms_.payload(op, std::move(attributes)));
  }
  bool is_softmax(const TermAttributes& body) const { return body.body == softmax_body_; }

 private:
  struct Parts {
    std::vector<Dim> shape;  // of the scores
    Attention attention;
    std::vector<ClassId> children;  // q, k, v, and a mask
  };

  // Masks first, one within the other; then the scale; then the product.
  bool take_scores(ClassId id, Parts& parts) const {
    const auto whole = View::contiguous(parts.shape);
    if (terms_.node_of(id, Op::kSelect)) return take_select(id, whole, parts);
    for (const auto member : terms_.members(id)) {
      const auto node = terms_.terms().node(member);
      const auto& attributes = terms_.attributes(node.payload);
      if (node.op == static_cast<egraph::Operator>(Op::kAdd)) {
        // An additive mask comes last of all that is done to the scores but what hides keys.
        if (parts.attention.mask || !is_same_view(attributes.views[0], whole)) continue;
        auto tried = parts;
        tried.attention.mask = Access{3, attributes.views[1]};
        tried.children.push_back(node.children[1]);
        if (take_scaled(node.children[0], tried)) {
          parts = std::move(tried);
          return true;
        }
      }
    }
    return take_scaled(id, parts);
  }
  bool take_select(ClassId id, const View& whole, Parts& parts) const {
    const auto node = *terms_.node_of(id, Op::kSelect);
    const auto& attributes = terms_.attributes(node.payload);
    const auto hidden = terms_.constant_of(node.children[2]);
    if (hidden != -INFINITY || !is_same_view(attributes.views[1], whole)) return false;
    if (!take_conditions(node.children[0], attributes.views[0], parts)) {
      if (parts.attention.mask) return false;
      parts.attention.mask = Access{3, attributes.views[0]};
      parts.children.push_back(node.children[0]);
    }
    return take_scores(node.children[1], parts);
  }
  // i + offset − j ≥ 0, and j − i − offset + window − 1 ≥ 0.
  bool take_conditions(ClassId id, const View& view, Parts& parts) const {
    const auto conditions = conditions_of(terms_, id, view);
    auto& attention = parts.attention;
    if (!conditions || attention.causal) return false;
    const auto rank = parts.shape.size();
    std::optional<Dim> causal, window;
    for (const auto& condition : *conditions) {
      for (std::size_t i = 0; i + 2 < rank; ++i) {
        if (!condition.strides[i].is(0) && !condition.shape[i].is(1)) return false;
      }
      const auto &query = condition.strides[rank - 2], &key = condition.strides[rank - 1];
      if (query.is(1) && key.is(-1) && !causal) {
        causal = condition.offset;
      } else if (query.is(-1) && key.is(1) && !window) {
        window = condition.offset;
      } else {
        return false;
      }
    }
    if (!causal) return false;
    attention.causal = true;
    attention.offset = *causal;
    if (window) attention.window = *window + *causal + 1;
    return true;
  }
  bool take_scaled(ClassId id, Parts& parts) const {
    if (take_product(id, parts)) return true;
    const auto whole = View::contiguous(parts.shape);
    for (const auto member : terms_.members(id)) {
      const auto node = terms_.terms().node(member);
      if (node.op != static_cast<egraph::Operator>(Op::kMul)) continue;
      const auto scale = terms_.constant_of(node.children[1]);
      if (!scale || !is_same_view(terms_.attributes(node.payload).views[0], whole)) continue;
      if (!take_product(node.children[0], parts)) continue;
      parts.attention.scale = *scale;
      return true;
    }
    return false;
  }
  // Σ_d q[…, s, ·, d] · k[…, ·, t, d]
  bool take_product(ClassId id, Parts& parts) const {
    for (const auto member : terms_.members(id)) {
      const auto node = terms_.terms().node(member);
      if (node.op != static_cast<egraph::Operator>(Found::kProduct)) continue;
      const auto& attributes = terms_.attributes(node.payload);
      const auto rank = attributes.shape.size();
      if (!(attributes.shape == parts.shape)) continue;
      const auto s = rank - 2, t = rank - 1;
      const auto &q = attributes.views[0], &k = attributes.views[1];
      if ((!q.strides[t].is(0) && !q.shape[t].is(1)) || (!k.strides[s].is(0) && !k.shape[s].is(1)))
        continue;
      parts.attention.q = {0, without_axis(q, t)};
      parts.attention.k = {1, without_axis(k, s)};
      parts.children[0] = node.children[0];
      parts.children[1] = node.children[1];
      return true;
    }
    return false;
  }

  TensorEGraph& terms_;
  Mistakes mistakes_;
  std::uint32_t softmax_body_;
};

}  // namespace

std::vector<TensorRule> attention_rules(TensorEGraph& terms, const Mistakes& mistakes) {
  egraph::Query query(
      {{"?root", egraph::parse_term("(product[?o] (body[?p] ?scores) ?v)", terms.vocabulary())}});
  const auto o = query.payload_index("?o"), p = query.payload_index("?p");
  const auto scores = query.class_index("?scores"), v = query.class_index("?v");
  auto make = [=, &terms](egraph::EGraph& graph,
                          const egraph::Match& match) -> std::optional<ClassId> {
    const auto& softmax = terms.attributes(match.payloads[p]);
    if (softmax.rules.size() != 1 || !softmax.rules[0].starts_with("softmax")) return std::nullopt;
    const AttentionFinder finder(terms, mistakes, softmax.body);
    return finder.found(graph, terms.attributes(match.payloads[o]), softmax, match.classes[scores],
                        match.classes[v]);
  };
  std::vector<TensorRule> rules;
  rules.push_back({"attention",
                   {.name = "attention",
                    .note = "the same sums over keys, block by block, with the greatest score so "
                            "far; where a key is hidden its value counts as finite (0 · ∞ is not "
                            "formed)",
                    .query = std::move(query),
                    .guard = {},
                    .result = {},
                    .make = std::move(make)}});
  return rules;
}

}  // namespace assay::compiler
