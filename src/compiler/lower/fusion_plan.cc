// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/fusion_plan.h"

#include <algorithm>

namespace assay::compiler {

FusionPlan::FusionPlan(const WorkGraph& graph, const FuseChoices& choices) : graph_(graph) {
  find_used();
  give_needed_buffers(choices);
  measure_effort();
  group_nodes();
  find_products();
}

void FusionPlan::find_used() {
  const auto count = graph_.nodes.size();
  used_.assign(count, false);
  readers_.resize(count);
  for (const auto& output : graph_.outputs) used_[output.node] = true;
  for (std::size_t id = count; id-- > 0;) {
    if (!used_[id]) continue;
    for (const auto& operand : graph_.nodes[id].node.operands) {
      used_[operand.node] = true;
      auto& readers = readers_[operand.node];
      if (readers.empty() || readers.back() != id) readers.push_back(static_cast<NodeId>(id));
    }
  }
}

void FusionPlan::give_needed_buffers(const FuseChoices& choices) {
  for (const auto& output : graph_.outputs) buffers_.insert(output.node);
  for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
    if (!used_[id]) continue;
    const auto& work = graph_.nodes[id];
    const auto op = work.node.op;
    if (op == Op::kInput && !work.is_kernel()) buffers_.insert(id);
    if (!choices.regions && op != Op::kConst) buffers_.insert(id);
    if (choices.kept.contains(id)) buffers_.insert(id);
    if (work.is_kernel() || op == Op::kScatter) {
      buffers_.insert(id);
      for (const auto& operand : work.node.operands) buffers_.insert(operand.node);
    } else if (op == Op::kGather) {
      buffers_.insert(work.node.operands[0].node);
    }
  }
}

void FusionPlan::measure_effort() {
  effort_.assign(graph_.nodes.size(), 0);
  is_free_.assign(graph_.nodes.size(), false);
  is_constant_ = is_free_;
  for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
    const auto& work = graph_.nodes[id];
    if (has_buffer(id)) continue;
    int effort = 0;
    bool is_free = true;      // computed of numbers alone, nothing is read
    bool is_constant = true;  // and of one at that
    switch (work.node.op) {
      case Op::kConst:
      case Op::kIota:
        is_free_[id] = true;
        is_constant_[id] = work.node.op == Op::kConst;
        continue;
      case Op::kExp2:
      case Op::kLog2:
      case Op::kSin:
      case Op::kSqrt:
      case Op::kRecip:
      case Op::kSum:
      case Op::kMaxReduce:
      case Op::kGather:
      case Op::kScatter:
        effort = kDear;
        break;
      case Op::kDiv:  // by one number: no dearer than what is read instead
        effort = is_constant_[work.node.operands[1].node] ? 1 : kDear;
        break;
      default:
        effort = 1;
    }
    for (const auto& operand : work.node.operands) {
      effort += effort_[operand.node];
      is_free = is_free && is_free_[operand.node];
      is_constant = is_constant && is_constant_[operand.node];
    }
    is_constant = is_constant && work.node.shape.empty();
    // Some arithmetic on positions costs less than reading what came of it.
    constexpr int kFreeArithmetic = 24;
    is_free_[id] = is_constant || (is_free && effort <= kFreeArithmetic);
    is_constant_[id] = is_constant;
    effort_[id] = is_free_[id] ? 0 : std::min(effort, kDear);
  }
}

void FusionPlan::find_products() {
  follows_product_.assign(graph_.nodes.size(), false);
  for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
    const auto& work = graph_.nodes[id];
    const auto op = work.node.op;
    const bool ends = op == Op::kSum || op == Op::kMaxReduce || op == Op::kScatter;
    bool follows = std::holds_alternative<Matmul>(work.kernel);
    for (const auto& operand : work.node.operands) {
      follows = follows || (!ends && follows_product_[operand.node]);
    }
    follows_product_[id] = follows;
  }
}

void FusionPlan::group_nodes() {
  group_.assign(graph_.nodes.size(), kMany);
  for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
    const auto id = static_cast<NodeId>(i);
    if (!used_[id]) continue;
    if (has_buffer(id)) {
      group_[id] = id;
      continue;
    }
    const auto& readers = readers_[id];
    group_[id] = group_[readers.front()];
    for (const auto reader : readers) {
      if (group_[reader] != group_[id]) group_[id] = kMany;
    }
    if (group_[id] == kMany && is_dear(id)) {
      // A cast to a wider type is done again: what it reads is less to keep.
      const auto& node = graph_.nodes[id].node;
      if (node.op == Op::kCast) {
        const auto from = node.operands[0].node;
        const auto& source = graph_.nodes[from].node;
        if (size_of(source.dtype) < size_of(node.dtype) && source.dtype != DType::kBool) {
          buffers_.insert(from);
          effort_[id] = 1;
          continue;
        }
      }
      buffers_.insert(id);
      group_[id] = id;
    }
  }
}

}  // namespace assay::compiler
