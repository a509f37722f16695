// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/assemble.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "compiler/program/program_json.h"

namespace assay::compiler {
namespace {

// Before what reads it, what writes it; of those that are free, the one that was made last comes
// first, since kernels were made from the end.
std::vector<std::size_t> ordered(const std::vector<MadeKernel>& made) {
  std::map<NodeId, std::size_t> writer;
  for (std::size_t i = 0; i < made.size(); ++i) {
    for (const auto id : made[i].writes) writer[id] = i;
  }
  std::vector<int> waits(made.size());
  std::vector<std::vector<std::size_t>> after(made.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    std::set<std::size_t> before;
    for (const auto id : made[i].reads) {
      if (const auto at = writer.find(id); at != writer.end() && at->second != i) {
        before.insert(at->second);
      }
    }
    waits[i] = static_cast<int>(before.size());
    for (const auto k : before) after[k].push_back(i);
  }
  std::set<std::size_t, std::greater<>> free;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (waits[i] == 0) free.insert(i);
  }
  std::vector<std::size_t> order;
  while (!free.empty()) {
    const auto i = *free.begin();
    free.erase(free.begin());
    order.push_back(i);
    for (const auto k : after[i]) {
      if (--waits[k] == 0) free.insert(k);
    }
  }
  check(order.size() == made.size(), "kernels can be put in an order");
  return order;
}

class Assembly {
 public:
  explicit Assembly(const WorkGraph& graph) : graph_(graph) { program_.symbols = graph.symbols; }

  Program run(std::vector<MadeKernel> made) {
    for (const auto& kernel : made) {
      if (!kernel.in_place_of) continue;
      in_place_[*kernel.writes.begin()] = *kernel.in_place_of;
    }
    add_outer_buffers();
    for (const auto i : ordered(made)) add_step(std::move(made[i]));
    add_copies();
    check_program(program_);
    return std::move(program_);
  }

 private:
  BufferId add_buffer(Buffer::Kind kind, const Node& node, std::string name) {
    program_.buffers.push_back({kind, node.dtype, node.shape, std::move(name)});
    return static_cast<BufferId>(program_.buffers.size() - 1);
  }
  void add_outer_buffers() {
    std::map<std::string, BufferId> states;
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      const auto& work = graph_.nodes[id];
      if (work.node.op != Op::kInput || work.is_kernel()) continue;
      const bool is_state = std::ranges::any_of(
          graph_.outputs, [&](const Output& o) { return o.replaces == work.node.name; });
      const auto kind = is_state ? Buffer::Kind::kState : Buffer::Kind::kInput;
      buffers_[id] = add_buffer(kind, work.node, work.node.name);
      if (is_state) states[work.node.name] = buffers_[id];
    }
    for (const auto& output : graph_.outputs) {
      const auto& node = graph_.nodes[output.node].node;
      if (!output.replaces.empty()) {
        copies_.emplace_back(output.node, states.at(output.replaces));
        continue;
      }
      const auto id = add_buffer(Buffer::Kind::kOutput, node, output.name);
      const bool is_own =
          !in_place_.contains(output.node) && buffers_.try_emplace(output.node, id).second;
      if (!is_own) copies_.emplace_back(output.node, id);
    }
  }
  // States last, since outputs may be their former values; and a state that another one becomes is
  // put aside first.
  void add_copies() {
    std::vector<std::pair<BufferId, BufferId>> last;
    for (const auto& [node, to] : copies_) {
      const auto from = buffer_of(node);
      if (program_.buffers[to].kind != Buffer::Kind::kState) {
        add_copy(from, to);
      } else if (from != to) {
        last.emplace_back(from, to);
      }
    }
    for (auto& [from, to] : last) {
      if (program_.buffers[from].kind != Buffer::Kind::kState) continue;
      auto aside = program_.buffers[from];
      aside.kind = Buffer::Kind::kTemporary;
      aside.name.clear();
      program_.buffers.push_back(std::move(aside));
      const auto id = static_cast<BufferId>(program_.buffers.size() - 1);
      add_copy(from, id);
      from = id;
    }
    for (const auto& [from, to] : last) add_copy(from, to);
  }
  BufferId buffer_of(NodeId id) {
    if (const auto at = buffers_.find(id); at != buffers_.end()) return at->second;
    if (const auto at = in_place_.find(id); at != in_place_.end()) {
      return buffers_[id] = buffer_of(at->second);
    }
    return buffers_[id] = add_buffer(Buffer::Kind::kTemporary, graph_.nodes[id].node, "");
  }
  void add_step(MadeKernel made) {
    std::vector<BufferId> buffers;
    for (const auto id : made.operands) {
      const auto& node = graph_.nodes[id].node;
      const bool is_written =
          made.writes.contains(id) || (made.in_place_of && *made.in_place_of == id);
      made.kernel.operands.push_back({node.dtype, node.shape, is_written});
      buffers.push_back(buffer_of(id));
    }
    for (const auto id : made.writes) buffer_of(id);
    add_step(std::move(made.kernel), std::move(buffers));
  }
  void add_step(Kernel kernel, std::vector<BufferId> buffers) {
    const auto text = canonical_json(kernel_to_json(kernel));
    const auto [at, is_new] =
        known_.try_emplace(text, static_cast<std::uint32_t>(program_.kernels.size()));
    if (is_new) program_.kernels.push_back(std::move(kernel));
    program_.steps.push_back({at->second, std::move(buffers)});
  }
  void add_copy(BufferId from, BufferId to) {
    const auto buffer = program_.buffers[from];
    Region region;
    region.shape = {product(buffer.shape)};
    const auto view = View::contiguous(region.shape);
    Region::Value value;
    value.dtype = buffer.dtype;
    value.access = {0, view};
    region.values = {std::move(value)};
    region.stores = {{0, {1, view}}};
    Kernel kernel;
    kernel.work = std::move(region);
    kernel.operands = {{buffer.dtype, buffer.shape, false}, {buffer.dtype, buffer.shape, true}};
    add_step(std::move(kernel), {from, to});
  }

  const WorkGraph& graph_;
  Program program_;
  std::map<NodeId, BufferId> buffers_;
  std::map<NodeId, NodeId> in_place_;
  std::map<std::string, std::uint32_t> known_;
  std::vector<std::pair<NodeId, BufferId>> copies_;
};

}  // namespace

Program assembled(const WorkGraph& graph, std::vector<MadeKernel> made) {
  return Assembly(graph).run(std::move(made));
}

}  // namespace assay::compiler
