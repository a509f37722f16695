// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/rules/chosen.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "compiler/graph/compose.h"
#include "compiler/rules/product_axes.h"

namespace assay::compiler {
namespace {

using egraph::ClassId;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a ^= b + 0x9E3779B97F4A7C15U + (a << 12) + (a >> 4);
  a ^= a >> 30;
  a *= 0xBF58476D1CE4E5B9U;
  return a ^ (a >> 27);
}
std::uint64_t mixed_text(std::uint64_t a, std::string_view text) {
  for (const char c : text) a = (a ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return mixed(a, text.size());
}

constexpr int kPlain = 4;  // from there on
int preference(egraph::Operator op) {
  switch (op) {
    case static_cast<egraph::Operator>(Found::kAttention):
      return 0;
    case static_cast<egraph::Operator>(Found::kGrouped):
      return 1;
    case static_cast<egraph::Operator>(Found::kProduct):
      return 2;
    case static_cast<egraph::Operator>(Found::kBody):
      return 3;
    case static_cast<egraph::Operator>(Op::kDiv):
      return kPlain + 1;  // what else has its bits is cheaper
    default:
      return kPlain;
  }
}

class Choosing {
 public:
  Choosing(const TensorEGraph& terms,
           const std::function<std::size_t(Signature, std::size_t)>& option)
      : terms_(terms), option_(option) {
    const auto& graph = terms.graph();
    const auto signatures = node_signatures(graph);
    for (NodeId id = 0; id < graph.size(); ++id) {
      signature_.try_emplace(terms.class_of(id), signatures[id]);
    }
  }

  ChosenGraph run() {
    auto& work = chosen_.work;
    work.symbols = terms_.symbols();
    // Inputs first and in order, whether or not they are used.
    for (const auto id : terms_.graph().inputs()) node_of(terms_.class_of(id));
    for (const auto& output : terms_.graph().outputs()) {
      auto own = output;
      const auto made = node_of(terms_.class_of(output.node));
      check(made.has_value(), "every class of the graph can be computed");
      own.node = *made;
      work.outputs.push_back(std::move(own));
    }
    return std::move(chosen_);
  }

 private:
  // A class that is being made: one of its ways, and what has been made of that one's operands. A
  // graph may be as deep as it is long, so those are in a list and not on the stack.
  struct Making {
    ClassId id;
    Signature signature;
    std::vector<ClassId> ways;
    std::size_t way = 0;
    std::vector<NodeId> children;
  };
  Making begun(ClassId id) {
    open_.insert(id);
    auto ways = options_of(terms_, id);
    const auto signature = signature_.contains(id) ? signature_.at(id) : 0;
    if (ways.size() > 1) {
      chosen_.option_counts[signature] = ways.size();
      const auto first = option_ ? option_(signature, ways.size()) : 0;
      std::ranges::rotate(ways, ways.begin() + static_cast<std::ptrdiff_t>(first));
    }
    return {id, signature, std::move(ways), 0, {}};
  }
  // Nothing where every way would need itself.
  std::optional<NodeId> node_of(ClassId given) {
    const auto root = terms_.terms().find(given);
    std::vector<Making> all;
    if (!made_.contains(root)) all.push_back(begun(root));
    while (!all.empty()) {
      auto& making = all.back();
      if (making.way == making.ways.size()) {
        open_.erase(making.id);
        all.pop_back();
        if (!all.empty()) next_way(all.back());
        continue;
      }
      const auto node = terms_.terms().node(making.ways[making.way]);
      if (making.children.size() == node.children.size()) {
        const auto made = added(node, making.children);
        made_.emplace(making.id, made);
        chosen_.signatures[made] = making.signature;
        open_.erase(making.id);
        all.pop_back();
        continue;
      }
      const auto child = terms_.terms().find(node.children[making.children.size()]);
      if (const auto known = made_.find(child); known != made_.end()) {
        making.children.push_back(known->second);
      } else if (open_.contains(child)) {
        next_way(making);
      } else {
        all.push_back(begun(child));
      }
    }
    const auto made = made_.find(root);
    return made == made_.end() ? std::nullopt : std::optional(made->second);
  }
  static void next_way(Making& making) {
    ++making.way;
    making.children.clear();
  }
  NodeId push(WorkNode node) {
    chosen_.work.nodes.push_back(std::move(node));
    chosen_.signatures.push_back(0);
    return static_cast<NodeId>(chosen_.work.nodes.size() - 1);
  }

  NodeId added(const egraph::NodeView& node, const std::vector<NodeId>& children) {
    const auto attributes = terms_.attributes(node.payload);
    const auto op = node.op;
    WorkNode work;
    work.node.op =
        op <= static_cast<egraph::Operator>(Op::kScatter) ? static_cast<Op>(op) : Op::kSum;
    work.node.dtype = attributes.dtype;
    work.node.shape = attributes.shape;
    work.node.name = attributes.name;
    work.node.bits = attributes.bits;
    work.rules = attributes.rules;
    for (std::size_t i = 0; i < attributes.views.size(); ++i) {
      work.node.operands.push_back({children[i], attributes.views[i]});
    }
    switch (op) {
      case static_cast<egraph::Operator>(Found::kProduct): {
        auto matmul = matmul_of(attributes.views[0], attributes.views[1], attributes.dtype);
        check(matmul.has_value(), "a product is a matrix product");
        work.kernel = std::move(*matmul);
        break;
      }
      case static_cast<egraph::Operator>(Found::kGrouped): {
        GroupedMatmul grouped;
        grouped.a = {0, attributes.views[0]};
        grouped.weights = {1, attributes.views[1]};
        grouped.expert = {2, attributes.views[2]};
        grouped.out = {3, View::contiguous(attributes.shape)};
        grouped.accumulate = attributes.dtype;
        work.kernel = std::move(grouped);
        break;
      }
      case static_cast<egraph::Operator>(Found::kAttention): {
        const auto& attention = *attributes.attention;
        for (std::size_t i = 0; i < children.size(); ++i) {
          const auto& view = i == 0   ? attention.q.view
                             : i == 1 ? attention.k.view
                             : i == 2 ? attention.v.view
                                      : attention.mask.value_or(Access{}).view;
          work.node.operands.push_back({children[i], view});
        }
        if (!attention.mask) work.node.operands.resize(3);
        work.kernel = attention;
        break;
      }
      case static_cast<egraph::Operator>(Found::kBody):
        return add_body(attributes, children);
      default:
        break;
    }
    return push(std::move(work));
  }

  // The nodes that the body's function builds, with what it was found on as leaves.
  NodeId add_body(const TermAttributes& attributes, const std::vector<NodeId>& children) {
    Graph body;
    for (const auto& [name, interval] : terms_.symbols()) {
      body.symbol(name, interval.low, interval.high);
    }
    std::vector<GraphTensor> leaves;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const auto dtype = chosen_.work.nodes[children[i]].node.dtype;
      leaves.push_back(
          GraphTensor::input(body, std::to_string(i), dtype, attributes.views[i].shape));
    }
    const auto result =
        terms_.body(attributes.body)(leaves, attributes.axis, attributes.numbers).contiguous();
    std::vector<NodeId> numbers;
    for (NodeId id = 0; id < body.size(); ++id) {
      const auto& node = body.node(id);
      if (node.op == Op::kInput) {
        numbers.push_back(children[id]);
        continue;
      }
      WorkNode work;
      work.node = node;
      work.rules = attributes.rules;
      for (auto& operand : work.node.operands) {
        if (operand.node < children.size()) {
          const auto through =
              compose(operand.view, attributes.views[operand.node], terms_.symbols());
          check(through.has_value(), "a body reads its leaves as it was found to");
          operand.view = *through;
        }
        operand.node = numbers[operand.node];
      }
      numbers.push_back(push(std::move(work)));
    }
    return numbers[result.node()];
  }

  const TensorEGraph& terms_;
  const std::function<std::size_t(Signature, std::size_t)>& option_;
  std::map<ClassId, Signature> signature_;
  std::map<ClassId, NodeId> made_;
  std::set<ClassId> open_;
  ChosenGraph chosen_;
};

}  // namespace

ChosenGraph chosen_graph(const TensorEGraph& terms,
                         const std::function<std::size_t(Signature, std::size_t)>& option) {
  return Choosing(terms, option).run();
}

std::vector<Signature> node_signatures(const Graph& graph) {
  // As far back as a layer's norm and projections, not as far as the layer before.
  constexpr int kDepth = 6;
  std::vector<Signature> own(graph.size()), all;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto& node = graph.node(id);
    auto hash =
        mixed(static_cast<std::uint64_t>(node.op) + 1, static_cast<std::uint64_t>(node.dtype));
    hash = mixed(mixed_text(hash, to_string(node.shape)), node.bits);
    for (const auto& operand : node.operands) hash = mixed_text(hash, operand.view.to_string());
    own[id] = hash;
  }
  all = own;
  for (int depth = 0; depth < kDepth; ++depth) {
    auto next = own;
    for (NodeId id = 0; id < graph.size(); ++id) {
      for (const auto& operand : graph.node(id).operands) {
        next[id] = mixed(next[id], all[operand.node]);
      }
    }
    all = std::move(next);
  }
  return all;
}

namespace {

// Whether one of the nodes is a product of so many terms, whatever the symbols are, that a
// reduction of products, a tenth as fast, is no way to compute it.
bool is_large_product(const TensorEGraph& terms, const std::vector<ClassId>& nodes) {
  constexpr std::int64_t kLarge = 1 << 22;
  Bindings least;
  for (const auto& [name, interval] : terms.symbols()) least[name] = interval.low;
  return std::ranges::any_of(nodes, [&](ClassId id) {
    const auto& node = terms.terms().node(id);
    return node.op == static_cast<egraph::Operator>(Found::kProduct) &&
           product(terms.attributes(node.payload).views[0].shape).at(least) >= kLarge;
  });
}

}  // namespace

std::vector<ClassId> options_of(const TensorEGraph& terms, ClassId id) {
  std::vector<ClassId> options;
  const auto rank = [&](ClassId node) { return preference(terms.terms().node(node).op); };
  auto members = terms.members(id);
  const bool is_large = is_large_product(terms, members);
  std::ranges::stable_sort(members, {}, rank);
  bool has_plain = false;
  for (const auto node : members) {
    const bool is_plain = rank(node) >= kPlain;
    if (is_plain && (has_plain || is_large)) continue;
    // Of two products with exchanged operands one is enough.
    const auto op = terms.terms().node(node).op;
    const bool is_known = std::ranges::any_of(
        options, [&](ClassId other) { return terms.terms().node(other).op == op; });
    if (!is_plain && is_known) continue;
    has_plain = has_plain || is_plain;
    options.push_back(node);
  }
  return options;
}

}  // namespace assay::compiler
