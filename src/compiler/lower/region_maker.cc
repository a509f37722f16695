// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/region_maker.h"

#include <algorithm>

#include "base/error.h"
#include "compiler/graph/compose.h"

namespace assay::compiler {
namespace {

View without_last(View view) {
  view.shape.pop_back();
  view.strides.pop_back();
  return view;
}

// Axes of extent 1 have stride 0, so that equal views are equal.
View with_plain_strides(View view) {
  for (std::size_t i = 0; i < view.rank(); ++i) {
    if (view.shape[i].is(1)) view.strides[i] = 0;
  }
  return view;
}

bool is_repeated(const View& view) {
  for (std::size_t i = 0; i < view.rank(); ++i) {
    if (view.strides[i].is(0) && !view.shape[i].is(1)) return true;
  }
  return false;
}

}  // namespace

RegionMaker::RegionMaker(Setting setting, std::vector<Dim> shape) : setting_(std::move(setting)) {
  region_.shape = std::move(shape);
  if (setting_.product) {
    const auto& node = setting_.graph->nodes[*setting_.product].node;
    Region::Value sum;
    sum.dtype = node.dtype;
    region_.values.push_back(std::move(sum));
  }
}

// Where rows can be empty, what is read for each of their elements may be outside of what there is.
bool RegionMaker::is_of_row(const View& view) const {
  return view.strides.back().is(0) && view.shape.back().range(setting_.graph->symbols).low >= 1;
}

std::uint32_t RegionMaker::operand(NodeId node) {
  const auto at = std::ranges::find(operands_, node);
  if (at == operands_.end()) {
    operands_.push_back(node);
    return static_cast<std::uint32_t>(operands_.size() - 1);
  }
  return static_cast<std::uint32_t>(at - operands_.begin());
}

RegionMaker::Mark RegionMaker::mark() const {
  return {
      region_.values.size(),  region_.stores.size(),    operands_.size(), names_in_order_.size(),
      loads_in_order_.size(), inlined_in_order_.size(), reduces_};
}
void RegionMaker::take_back(const Mark& mark) {
  const auto shorten = [](auto& list, std::size_t size, const auto& forget) {
    for (; list.size() > size; list.pop_back()) forget(list.back());
  };
  region_.values.resize(mark.values);
  region_.stores.resize(mark.stores);
  operands_.resize(mark.operands);
  shorten(stored_in_order_, mark.stores, [&](NodeId id) { stored_.erase(id); });
  shorten(names_in_order_, mark.names, [&](const std::string& key) { known_.erase(key); });
  shorten(loads_in_order_, mark.loads, [&](NodeId id) { loads_.erase(id); });
  shorten(inlined_in_order_, mark.inlined, [&](NodeId id) { inlined_.erase(id); });
  reduces_ = mark.reduces;
}
void RegionMaker::name(std::string key, std::uint32_t number) {
  if (known_.emplace(key, number).second) names_in_order_.push_back(std::move(key));
}
void RegionMaker::note_load(NodeId node) {
  if (loads_.insert(node).second) loads_in_order_.push_back(node);
}

std::uint32_t RegionMaker::add(Region::Value value, std::string key) {
  const auto number = static_cast<std::uint32_t>(region_.values.size());
  region_.values.push_back(std::move(value));
  name(std::move(key), number);
  return number;
}

std::uint32_t RegionMaker::loaded(NodeId node, const View& view, bool of_row) {
  auto key = fmt::format("load {} {} {}", node, of_row, view.to_string());
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  Region::Value value;
  value.dtype = setting_.graph->nodes[node].node.dtype;
  value.of_row = of_row;
  value.access = {operand(node), view};
  note_load(node);
  return add(std::move(value), std::move(key));
}

void RegionMaker::store(std::uint32_t value, NodeId node, const View& view) {
  if (!stored_.insert(node).second) return;
  stored_in_order_.push_back(node);
  region_.stores.push_back({value, {operand(node), view}});
}

bool RegionMaker::root(NodeId node, View view, bool of_row) {
  view = with_plain_strides(std::move(view));
  if (!of_row && is_of_row(view)) {
    view = without_last(std::move(view));
    of_row = true;
  }
  const auto number = computed(node, view, of_row);
  if (!number) return false;
  // A constant is one for each row, wherever it stands.
  check(region_.values[*number].of_row == of_row, "a node is stored as it was asked for");
  store(*number, node, view);
  return true;
}

std::optional<std::uint32_t> RegionMaker::value(NodeId id, const View& given, bool of_row) {
  const View view = with_plain_strides(given);
  if (!of_row && is_of_row(view)) return value(id, without_last(view), true);
  const auto& work = setting_.graph->nodes[id];
  if (setting_.product == id) {
    if (!of_row && view == with_plain_strides(setting_.product_view)) return 0;
    return std::nullopt;
  }
  const bool is_leaf = work.node.op == Op::kInput && !work.is_kernel();
  const auto use = is_leaf ? Use::kLoad : setting_.use(id);
  if (use == Use::kLoad) return loaded(id, view, of_row);
  auto key = fmt::format("{} {} {}", id, of_row, view.to_string());
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const bool is_whole = reads_each_once(view, product(work.node.shape), setting_.graph->symbols);
  if (use == Use::kShare && !is_whole) return loaded(id, view, of_row);
  if (is_repeated(view) && setting_.is_dear(id)) return loaded(id, view, of_row);
  // Nobody writes expressions that deep; a graph of 10⁵ nodes may be one.
  constexpr int kDeepest = 200;
  if (depth_ >= kDeepest) return loaded(id, view, of_row);
  const auto before = mark();
  ++depth_;
  const auto number = computed(id, view, of_row);
  --depth_;
  if (!number) {
    take_back(before);
    return loaded(id, view, of_row);
  }
  name(std::move(key), *number);
  if (inlined_.insert(id).second) inlined_in_order_.push_back(id);
  if (use == Use::kShare) store(*number, id, view);
  return number;
}

std::optional<std::uint32_t> RegionMaker::reduction(const Node& node, const View& view) {
  const auto& inner = node.operands[0];
  const auto& length = inner.view.shape.back();
  if (!(length == region_.shape.back())) return std::nullopt;
  View outer = view;
  for (auto& stride : outer.strides) stride *= length;
  outer.offset *= length;
  outer.shape.push_back(length);
  outer.strides.emplace_back(1);
  const auto composed = compose(outer, inner.view, setting_.graph->symbols);
  if (!composed) return std::nullopt;
  auto of = value(inner.node, *composed, false);
  if (!of) return std::nullopt;
  Region::Value value;
  value.op = node.op;
  value.dtype = node.dtype;
  value.of_row = true;
  value.values = {*of};
  reduces_ = true;
  return add(std::move(value), fmt::format("{} of {}", name_of(node.op), *of));
}

std::optional<std::uint32_t> RegionMaker::computed(NodeId id, const View& view, bool of_row) {
  const auto& node = setting_.graph->nodes[id].node;
  Region::Value value;
  value.op = node.op;
  value.dtype = node.dtype;
  value.of_row = of_row;
  switch (node.op) {
    case Op::kConst:
      value.of_row = true;
      value.bits = node.bits;
      return add(std::move(value), fmt::format("const {}", id));
    case Op::kIota:
      value.access.view = view;
      return add(std::move(value), fmt::format("iota {} {}", id, view.to_string()));
    case Op::kSum:
    case Op::kMaxReduce:
      return of_row ? reduction(node, view) : std::nullopt;
    case Op::kScatter:
      return std::nullopt;
    default:
      break;
  }
  const bool gathers = node.op == Op::kGather;
  for (std::size_t i = gathers ? 1 : 0; i < node.operands.size(); ++i) {
    const auto& operand = node.operands[i];
    const auto composed = compose(view, operand.view, setting_.graph->symbols);
    if (!composed) return std::nullopt;
    const auto number = this->value(operand.node, *composed, of_row);
    if (!number) return std::nullopt;
    value.values.push_back(*number);
  }
  if (gathers) {
    value.access = {operand(node.operands[0].node), node.operands[0].view};
    note_load(node.operands[0].node);
  }
  return add(std::move(value), fmt::format("computed {} {}", id, view.to_string()));
}

}  // namespace assay::compiler
