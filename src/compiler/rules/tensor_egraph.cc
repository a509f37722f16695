// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/rules/tensor_egraph.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "compiler/graph/dtypes.h"
#include "egraph/rules.h"
#include "tensor/tensor.h"

namespace assay::compiler {
namespace {

using egraph::ClassId;
__extension__ using Int128 = __int128;
constexpr Interval kAllIntegers = {std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()};

std::string text_of(const egraph::Operator& op, const TermAttributes& a) {
  auto text = fmt::format("{} {} {} '{}' {} {} {}", op, static_cast<int>(a.dtype),
                          to_string(a.shape), a.name, a.bits, a.body, a.axis);
  for (const auto& view : a.views) text += "; " + view.to_string();
  for (const auto number : a.numbers) text += fmt::format(" {}", number);
  if (a.attention) {
    const auto& t = *a.attention;
    text += fmt::format("| {} {} {} {} {}", t.scale, t.causal, t.offset.to_string(),
                        t.window ? t.window->to_string() : "-", t.out.view.to_string());
    for (const auto* access : {&t.q, &t.k, &t.v}) text += "; " + access->view.to_string();
    if (t.mask) text += "; mask " + t.mask->view.to_string();
  }
  return text;
}

bool is_empty(const std::vector<Dim>& shape) { return product(shape).is(0); }

// Has no elements, or is a sum of none: zeros say the same, and read nothing. Views without
// elements may lie anywhere, and neither rules nor kernels have to know of them.
bool is_of_nothing(const Node& node) {
  if (node.operands.empty()) return false;
  return is_empty(node.shape) ||
         (node.op == Op::kSum && is_empty({node.operands[0].view.shape.back()}));
}
// Writes no elements: what it writes into stays as it is.
bool scatters_nothing(const Node& node) {
  return node.op == Op::kScatter && is_empty(node.operands[1].view.shape);
}

// Where additions and products stay within 64 bits, and within the dtype.
Interval fitted(DType dtype, Int128 low, Int128 high) {
  const bool is_wide = dtype == DType::kI64;
  const Int128 least = is_wide ? kAllIntegers.low : std::numeric_limits<std::int32_t>::min();
  const Int128 most = is_wide ? kAllIntegers.high : std::numeric_limits<std::int32_t>::max();
  if (low < least || high > most) {
    return {static_cast<std::int64_t>(least), static_cast<std::int64_t>(most)};
  }
  return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

}  // namespace

TensorEGraph::~TensorEGraph() = default;

TensorEGraph::TensorEGraph(const Graph& graph) : graph_(graph) {
  for (int op = 0; op <= static_cast<int>(Op::kScatter); ++op) {
    vocabulary_.op(name_of(static_cast<Op>(op)));
  }
  for (const char* name : {"product", "body", "attention", "grouped"}) vocabulary_.op(name);
  egraph_ = std::make_unique<egraph::EGraph>(this);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto& node = graph.node(id);
    TermAttributes attributes;
    attributes.dtype = node.dtype;
    attributes.shape = node.shape;
    attributes.name = node.name;
    attributes.bits = node.bits;
    std::vector<ClassId> children;
    auto op = static_cast<egraph::Operator>(node.op);
    if (is_of_nothing(node)) {
      op = static_cast<egraph::Operator>(Op::kCast);
      attributes.views.push_back({node.shape, std::vector<Dim>(node.shape.size(), Dim(0)), 0});
      children.push_back(constant(node.dtype, 0));
    } else if (scatters_nothing(node)) {
      op = static_cast<egraph::Operator>(Op::kCast);
      attributes.views.push_back(node.operands[0].view);
      children.push_back(classes_[node.operands[0].node]);
    } else {
      for (const auto& operand : node.operands) {
        attributes.views.push_back(operand.view);
        children.push_back(classes_[operand.node]);
      }
    }
    classes_.push_back(egraph_->add(op, children, payload(op, std::move(attributes))));
  }
  egraph_->rebuild();
}

ClassId TensorEGraph::constant(DType dtype, double value) {
  TermAttributes attributes;
  attributes.dtype = dtype;
  attributes.bits = bits_of(dtype, value);
  const auto op = static_cast<egraph::Operator>(Op::kConst);
  return egraph_->add(op, {}, payload(op, std::move(attributes)));
}

std::uint64_t TensorEGraph::payload(const egraph::Operator& op, TermAttributes attributes) {
  const auto [at, is_new] = known_.try_emplace(text_of(op, attributes), table_.size());
  if (is_new) table_.push_back(std::move(attributes));
  return at->second;
}

std::uint32_t TensorEGraph::add_body(BodyMaker body) {
  bodies_.push_back(std::move(body));
  return static_cast<std::uint32_t>(bodies_.size() - 1);
}

Interval TensorEGraph::interval_of(const egraph::NodeView& node,
                                   const TermAttributes& attributes) const {
  if (attributes.dtype == DType::kBool) return {0, 1};
  if (is_floating(attributes.dtype)) return kAllIntegers;
  const auto child = [&](std::size_t i) {
    return facts_[egraph_->find(node.children[i])].interval;
  };
  const auto all = fitted(attributes.dtype, kAllIntegers.low, kAllIntegers.high);
  if (node.op > static_cast<egraph::Operator>(Op::kScatter)) return all;
  switch (static_cast<Op>(node.op)) {
    case Op::kConst: {
      const auto value = static_cast<std::int64_t>(attributes.bits);
      const auto exact =
          attributes.dtype == DType::kI32 ? std::int64_t{static_cast<std::int32_t>(value)} : value;
      return {exact, exact};
    }
    case Op::kIota:
      return fitted(attributes.dtype, 0,
                    std::max<std::int64_t>(attributes.shape[0].range(symbols()).high, 1) - 1);
    case Op::kAdd: {
      const auto a = child(0), b = child(1);
      return fitted(attributes.dtype, Int128{a.low} + b.low, Int128{a.high} + b.high);
    }
    case Op::kMul: {
      const auto a = child(0), b = child(1);
      const Int128 ends[] = {Int128{a.low} * b.low, Int128{a.low} * b.high, Int128{a.high} * b.low,
                             Int128{a.high} * b.high};
      return fitted(attributes.dtype, *std::ranges::min_element(ends),
                    *std::ranges::max_element(ends));
    }
    case Op::kMax: {
      const auto a = child(0), b = child(1);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case Op::kSelect: {
      const auto a = child(1), b = child(2);
      return {std::min(a.low, b.low), std::max(a.high, b.high)};
    }
    case Op::kGather:
      return child(0);
    case Op::kMaxReduce:  // of none is the least there is
      return attributes.views[0].shape.back().range(symbols()).low > 0 ? child(0) : all;
    default:
      return all;
  }
}

void TensorEGraph::made(const egraph::EGraph& graph, ClassId id) {
  const auto node = graph.node(id);
  const auto& attributes = table_.at(node.payload);
  if (facts_.size() <= id) facts_.resize(id + 1);
  facts_[id] = {attributes.dtype, attributes.shape, interval_of(node, attributes)};
}

bool TensorEGraph::joined(const egraph::EGraph& /*graph*/, ClassId kept, ClassId gone) {
  auto& a = facts_[kept];
  const auto& b = facts_[gone];
  if (a.dtype != b.dtype || !(a.shape == b.shape)) {
    throw egraph::Conflict(fmt::format("{} {} is not {} {}", name_of(a.dtype), to_string(a.shape),
                                       name_of(b.dtype), to_string(b.shape)));
  }
  const Interval both = {std::max(a.interval.low, b.interval.low),
                         std::min(a.interval.high, b.interval.high)};
  if (both.low > both.high) {
    throw egraph::Conflict(fmt::format("integers from {} to {} are not those from {} to {}",
                                       a.interval.low, a.interval.high, b.interval.low,
                                       b.interval.high));
  }
  const bool is_news = !(both == a.interval);
  a.interval = both;
  return is_news;
}

const std::vector<ClassId>& TensorEGraph::members(ClassId id) const {
  const bool is_new = members_.empty() || noted_at_ != egraph_->now() ||
                      (egraph_->is_clean() && noted_ != egraph_->id_count());
  if (is_new) {
    members_.clear();
    for (ClassId node = 0; node < egraph_->id_count(); ++node) {
      if (egraph_->is_live(node)) members_[egraph_->find(node)].push_back(node);
    }
    noted_ = egraph_->id_count();
    noted_at_ = egraph_->now();
  }
  const auto& found = members_[egraph_->find(id)];
  return found.empty() ? members_[id] : found;
}

std::optional<egraph::NodeView> TensorEGraph::node_of(ClassId id, Op op) const {
  for (const auto node : members(id)) {
    const auto view = egraph_->node(node);
    if (view.op == static_cast<egraph::Operator>(op)) return view;
  }
  return std::nullopt;
}

std::optional<double> TensorEGraph::constant_of(ClassId id) const {
  const auto node = node_of(id, Op::kConst);
  if (!node) return std::nullopt;
  const auto& attributes = table_.at(node->payload);
  Tensor value(attributes.dtype, Shape({}));
  std::memcpy(value.bytes().data(), &attributes.bits, value.bytes().size());
  return value_as_double(value.view(), 0);
}

}  // namespace assay::compiler
