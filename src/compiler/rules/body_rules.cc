// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules whose left side is what a function of the front end builds. The pattern comes of a sample;
// views, constants and axes are compared with what the function builds for the shape at hand.
#include <algorithm>
#include <cstring>
#include <map>

#include "base/error.h"
#include "compiler/graph/compose.h"
#include "compiler/graph/graph_models.h"
#include "compiler/rules/tensor_rules.h"

namespace assay::compiler {
namespace {

using egraph::ClassId;
using egraph::TermPtr;

constexpr double kSampleNumber = 0.123456789;

struct Instance {
  Graph graph;
  NodeId root = 0;
};
Instance instance_of(const BodyRule& rule, const BodyMaker& make, DType dtype,
                     const std::vector<Dim>& shape, const Symbols& symbols, int axis,
                     const std::vector<double>& numbers) {
  Instance instance;
  for (const auto& [name, interval] : symbols) {
    instance.graph.symbol(name, interval.low, interval.high);
  }
  std::vector<GraphTensor> leaves;
  for (std::size_t i = 0; i < rule.leaves; ++i) {
    leaves.push_back(GraphTensor::input(instance.graph, std::to_string(i), dtype, shape));
  }
  instance.root = make(leaves, axis, numbers).node();
  return instance;
}

// Axes of extent 1 do not matter.
View plain_view(View view) {
  for (std::size_t i = 0; i < view.rank(); ++i) {
    if (view.shape[i].is(1)) view.strides[i] = 0;
  }
  return view;
}

class BodyMatcher {
 public:
  BodyMatcher(TensorEGraph& terms, BodyRule rule) : terms_(terms), rule_(std::move(rule)) {
    const std::vector<double> numbers(rule_.numbers, kSampleNumber);
    sample_ = instance_of(rule_, rule_.match, DType::kF32, {3, 7, 2, 11}, {}, -1, numbers);
    pattern_ = term_of(sample_.root);
    body_ = terms.add_body(rule_.result ? rule_.result : rule_.match);
  }
  const TermPtr& pattern() const { return pattern_; }

  void set_query(const egraph::Query& query) {
    for (NodeId id = 0; id < sample_.graph.size(); ++id) {
      const auto name = fmt::format("?{}", id);
      const bool is_input = sample_.graph.node(id).op == Op::kInput;
      const auto& names = is_input ? query.classes() : query.payloads();
      const auto at = std::ranges::find(names, name);
      if (at != names.end()) place_[id] = static_cast<std::size_t>(at - names.begin());
    }
  }

  std::optional<ClassId> make(egraph::EGraph& graph, const egraph::Match& match) const {
    const auto& root = matched(match, sample_.root);
    if (root.dtype != DType::kF32 && root.dtype != DType::kF64) return std::nullopt;
    const auto rank = static_cast<int>(root.shape.size());
    for (int axis = rule_.any_axis ? 0 : rank - 1; axis < rank; ++axis) {
      if (auto attributes = fitted_to(match, root, axis)) {
        std::vector<ClassId> children;
        for (NodeId leaf = 0; leaf < rule_.leaves; ++leaf) {
          children.push_back(match.classes[place_.at(leaf)]);
        }
        const auto op = static_cast<egraph::Operator>(Found::kBody);
        return graph.add(op, children, terms_.payload(op, std::move(*attributes)));
      }
    }
    return std::nullopt;
  }

 private:
  TermPtr term_of(NodeId id) {
    if (const auto known = made_.find(id); known != made_.end()) return known->second;
    const auto& node = sample_.graph.node(id);
    egraph::Term term;
    if (node.op == Op::kInput) {
      term.variable = fmt::format("?{}", id);
    } else {
      term.op = static_cast<egraph::Operator>(node.op);
      term.payload_variable = fmt::format("?{}", id);
      for (const auto& operand : node.operands) term.children.push_back(term_of(operand.node));
    }
    return made_[id] = std::make_shared<const egraph::Term>(std::move(term));
  }
  const TermAttributes& matched(const egraph::Match& match, NodeId id) const {
    return terms_.attributes(match.payloads[place_.at(id)]);
  }

  // The numbers are read where the sample has its own.
  std::optional<std::vector<double>> numbers_of(const egraph::Match& match) const {
    std::vector<double> numbers;
    for (NodeId id = 0; id < sample_.graph.size(); ++id) {
      const auto& node = sample_.graph.node(id);
      if (node.op != Op::kConst) continue;
      float value = 0;
      const auto bits = static_cast<std::uint32_t>(node.bits);
      std::memcpy(&value, &bits, sizeof value);
      if (value != static_cast<float>(kSampleNumber)) continue;
      const auto& found = matched(match, id);
      if (found.dtype == DType::kF32) {
        const auto found_bits = static_cast<std::uint32_t>(found.bits);
        std::memcpy(&value, &found_bits, sizeof value);
        numbers.push_back(value);
      } else if (found.dtype == DType::kF64) {
        double wide = 0;
        std::memcpy(&wide, &found.bits, sizeof wide);
        numbers.push_back(wide);
      }
    }
    if (numbers.size() != rule_.numbers) return std::nullopt;
    return numbers;
  }

  std::optional<TermAttributes> fitted_to(const egraph::Match& match, const TermAttributes& root,
                                          int axis) const {
    const auto numbers = numbers_of(match);
    if (!numbers) return std::nullopt;
    Instance instance;
    try {
      instance =
          instance_of(rule_, rule_.match, root.dtype, root.shape, terms_.symbols(), axis, *numbers);
    } catch (const UserError&) {
      return std::nullopt;  // the function does not take such a shape
    }
    std::vector<std::optional<View>> leaves(rule_.leaves);
    // First where a leaf is read as it is, which says how; then everywhere else.
    for (const bool is_first : {true, false}) {
      if (!agrees(match, sample_.root, instance, instance.root, leaves, is_first)) {
        return std::nullopt;
      }
    }
    TermAttributes attributes;
    attributes.dtype = root.dtype;
    attributes.shape = root.shape;
    attributes.body = body_;
    attributes.axis = axis;
    attributes.numbers = *numbers;
    attributes.rules = {rule_.name};
    for (auto& view : leaves) {
      if (!view) return std::nullopt;
      attributes.views.push_back(std::move(*view));
    }
    return attributes;
  }

  // Node for node: the sample says which was matched, the instance what it must be.
  bool agrees(const egraph::Match& match, NodeId sample, const Instance& instance, NodeId expected,
              std::vector<std::optional<View>>& leaves, bool is_first) const {
    const auto& shape_of = sample_.graph.node(sample);
    const auto& want = instance.graph.node(expected);
    const auto& have = matched(match, sample);
    if (shape_of.op != want.op || want.dtype != have.dtype || !(want.shape == have.shape) ||
        want.bits != have.bits || want.operands.size() != have.views.size()) {
      return false;
    }
    for (std::size_t i = 0; i < want.operands.size(); ++i) {
      const auto child = shape_of.operands[i].node, wanted = want.operands[i].node;
      const auto& view = want.operands[i].view;
      if (sample_.graph.node(child).op != Op::kInput) {
        if (!(plain_view(view) == plain_view(have.views[i]))) return false;
        if (!agrees(match, child, instance, wanted, leaves, is_first)) return false;
        continue;
      }
      auto& leaf = leaves[child];
      if (is_first) {
        const bool is_whole = view == View::contiguous(instance.graph.node(wanted).shape);
        if (is_whole && !leaf) leaf = have.views[i];
        continue;
      }
      if (!leaf) return false;
      const auto through = compose(view, *leaf, terms_.symbols());
      if (!through || !(plain_view(*through) == plain_view(have.views[i]))) return false;
    }
    return true;
  }

  TensorEGraph& terms_;
  BodyRule rule_;
  Instance sample_;
  std::uint32_t body_ = 0;
  std::map<NodeId, TermPtr> made_;
  TermPtr pattern_;
  std::map<NodeId, std::size_t> place_;  // of the sample's nodes in a match
};

}  // namespace

TensorRule tensor_rule(TensorEGraph& terms, const BodyRule& rule) {
  const auto matcher = std::make_shared<BodyMatcher>(terms, rule);
  egraph::Rule made{.name = rule.name,
                    .note = rule.note,
                    .query = egraph::Query({{"?root", matcher->pattern()}}),
                    .guard = {},
                    .result = {},
                    .make = {}};
  matcher->set_query(made.query);
  made.make = [matcher](egraph::EGraph& graph, const egraph::Match& match) {
    return matcher->make(graph, match);
  };
  return {rule.family, std::move(made)};
}

std::vector<BodyRule> body_rules() {
  using Leaves = std::vector<GraphTensor>;
  using Numbers = std::vector<double>;
  std::vector<BodyRule> rules;
  const auto add = [&](std::string name, std::string family, std::string note, std::size_t leaves,
                       std::size_t numbers, BodyMaker match) -> BodyRule& {
    rules.push_back({std::move(name),
                     std::move(family),
                     std::move(note),
                     leaves,
                     false,
                     numbers,
                     std::move(match),
                     {}});
    return rules.back();
  };
  add("softmax", "softmax", "the very same operations, of one row at a time", 1, 0,
      [](const Leaves& x, int axis, const Numbers&) { return softmax(x[0], axis); })
      .any_axis = true;
  add("rms-norm", "norm", "the very same operations, of one row at a time", 2, 1,
      [](const Leaves& x, int, const Numbers& n) { return rms_norm(x[0], x[1], n[0]); });
  add("layer-norm", "norm", "the very same operations, of one row at a time", 3, 1,
      [](const Leaves& x, int, const Numbers& n) { return layer_norm(x[0], x[1], x[2], n[0]); });
  // The same as people write them who divide.
  add("softmax-by-division", "softmax", "the very same operations, of one row at a time", 1, 0,
      [](const Leaves& x, int axis, const Numbers&) {
        const auto e = exp(x[0] - x[0].max(axis, true));
        return e / e.sum(axis, true);
      })
      .any_axis = true;
  add("rms-norm-by-division", "norm", "the very same operations, of one row at a time", 2, 1,
      [](const Leaves& x, int, const Numbers& n) {
        return x[0] / sqrt((x[0] * x[0]).mean(-1, true) + n[0]) * x[1];
      });
  add("layer-norm-by-division", "norm", "the very same operations, of one row at a time", 3, 1,
      [](const Leaves& x, int, const Numbers& n) {
        const auto centred = x[0] - x[0].mean(-1, true);
        return centred / sqrt((centred * centred).mean(-1, true) + n[0]) * x[1] + x[2];
      });
  add("silu-gate-by-division", "gate", "the very same operations, element by element", 2, 0,
      [](const Leaves& x, int, const Numbers&) { return x[0] / (exp(-x[0]) + 1.0) * x[1]; });
  add("rotary", "rotary", "both halves of a row are read where one is written", 3, 0,
      [](const Leaves& x, int, const Numbers&) { return turned_pairs(x[0], x[1], x[2]); });
  add("silu-gate", "gate", "the very same operations, element by element", 2, 0,
      [](const Leaves& x, int, const Numbers&) { return swiglu(x[0], x[1]); });
  add("gelu-gate", "gate", "the very same operations, element by element", 2, 0,
      [](const Leaves& x, int, const Numbers&) { return geglu(x[0], x[1]); });
  return rules;
}

}  // namespace assay::compiler
