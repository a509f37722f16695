// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// From the last node to the first: one that has a buffer gets the kernel that fills it. A region
// takes in what it is computed of; what it cannot take in gets a buffer, and a kernel later.
#include "compiler/lower/lower.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "compiler/lower/assemble.h"
#include "compiler/lower/fusion_plan.h"
#include "compiler/lower/marks.h"
#include "compiler/lower/region_maker.h"

namespace assay::compiler {
namespace {

class Lowering {
 public:
  Lowering(const WorkGraph& graph, const FuseChoices& choices)
      : graph_(graph),
        choices_(choices),
        plan_(graph, choices),
        also_after_(graph.nodes.size()),
        done_(graph.nodes.size()),
        marks_(graph.nodes.size()) {}

  std::vector<MadeKernel> run() {
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const auto id = static_cast<NodeId>(i);
      if (!plan_.is_used(id) || !plan_.has_buffer(id) || done_[id]) continue;
      const auto& work = graph_.nodes[id];
      if (work.is_kernel()) {
        add(kernel_of(work, id));
      } else if (work.node.op == Op::kScatter) {
        add(scatter_of(work, id));
      } else if (work.node.op != Op::kInput) {
        add_region(id);
      }
    }
    return std::move(made_);
  }

 private:
  void add(MadeKernel made) {
    for (const auto id : made.reads) plan_.give_buffer(id);
    for (const auto id : made.writes) {
      done_[id] = true;
      for (const auto read : made.reads) {
        also_after_[id].push_back(read);
        if (read > id) least_waiting_up_ = std::min(least_waiting_up_, id);
      }
    }
    made_.push_back(std::move(made));
  }

  MadeKernel made_of(const WorkNode& work, NodeId id) const {
    MadeKernel made;
    made.kernel.rules = work.rules;
    for (const auto& operand : work.node.operands) {
      made.operands.push_back(operand.node);
      made.reads.insert(operand.node);
    }
    made.operands.push_back(id);
    made.writes.insert(id);
    return made;
  }
  MadeKernel kernel_of(const WorkNode& work, NodeId id) const {
    auto made = made_of(work, id);
    std::visit(
        [&]<typename T>(const T& kernel) {
          if constexpr (!std::is_same_v<T, std::monostate>) {
            auto own = kernel;
            own.out.operand = static_cast<std::uint32_t>(work.node.operands.size());
            made.kernel.work = std::move(own);
          }
        },
        work.kernel);
    return made;
  }
  // Nobody else reads what it overwrites, and it is ours: computed here, or a state that this is
  // the next value of.
  bool is_exclusive(const WorkNode& work, NodeId id) const {
    const auto& data = work.node.operands[0];
    const auto& source = graph_.nodes[data.node];
    if (!choices_.in_place || plan_.readers(data.node) != std::vector<NodeId>{id}) return false;
    if (!(data.view == View::contiguous(source.node.shape))) return false;
    if (data.node == work.node.operands[1].node || data.node == work.node.operands[2].node) {
      return false;
    }
    const bool is_input = source.node.op == Op::kInput && !source.is_kernel();
    for (const auto& output : graph_.outputs) {
      if (output.node == data.node) return false;
    }
    if (!is_input) return true;
    return std::ranges::any_of(graph_.outputs, [&](const Output& output) {
      return output.replaces == source.node.name && leads_to(id, output.node);
    });
  }
  // Whether a chain of scatters, each alone with the one before, goes from one node to another.
  bool leads_to(NodeId from, NodeId to) const {
    while (from != to) {
      if (plan_.readers(from).size() != 1) return false;
      const auto next = plan_.readers(from)[0];
      const auto& work = graph_.nodes[next];
      if (work.node.op != Op::kScatter || !is_exclusive(work, next)) return false;
      from = next;
    }
    return true;
  }
  MadeKernel scatter_of(const WorkNode& work, NodeId id) const {
    auto made = made_of(work, id);
    ScatterInto scatter;
    scatter.data = {0, work.node.operands[0].view};
    scatter.index = {1, work.node.operands[1].view};
    scatter.values = {2, work.node.operands[2].view};
    scatter.out = {3, View::contiguous(work.node.shape)};
    scatter.in_place = is_exclusive(work, id);
    if (scatter.in_place) {
      made.operands.pop_back();
      scatter.out.operand = 0;
      made.in_place_of = work.node.operands[0].node;
      made.kernel.rules.emplace_back("scatter-in-place");
    }
    made.kernel.work = std::move(scatter);
    return made;
  }

  // Whether `id` needs `other` to be computed before it. Operands have smaller numbers: from below
  // `other` a way to it goes through a node that waits for one of a greater number.
  bool depends(NodeId id, NodeId other) const {
    std::vector<NodeId> left;
    marks_.begin();
    const auto visit = [&](NodeId next) {
      const bool is_below = next < other && next < least_waiting_up_;
      if (!is_below && marks_.mark(next)) left.push_back(next);
    };
    visit(id);
    while (!left.empty()) {
      const auto at = left.back();
      left.pop_back();
      if (at == other) return true;
      for (const auto& operand : graph_.nodes[at].node.operands) visit(operand.node);
      for (const auto next : also_after_[at]) visit(next);
    }
    return false;
  }
  bool makes_a_circle(const RegionMaker& maker, std::optional<NodeId> product) const {
    for (const auto load : maker.loads()) {
      if (product && depends(load, *product)) return true;
      if (maker.stored().contains(load)) return true;
      for (const auto stored : maker.stored()) {
        if (depends(load, stored)) return true;
      }
    }
    // Of two that are stored together, one may need the other only inside.
    return false;
  }

  RegionMaker maker_for(NodeId root, std::vector<Dim> shape, bool shares,
                        std::optional<NodeId> product = {}) const {
    RegionMaker::Setting setting;
    setting.graph = &graph_;
    setting.is_dear = [this](NodeId id) { return plan_.is_dear(id); };
    setting.use = [this, root, shares](NodeId id) {
      using Use = RegionMaker::Use;
      const auto& work = graph_.nodes[id];
      if (work.is_kernel()) return Use::kLoad;
      if (!plan_.has_buffer(id)) return Use::kInline;
      const bool may_share =
          shares && choices_.regions && !done_[id] && id != root && !choices_.kept.contains(id);
      return may_share && !epilogue_of(id) ? Use::kShare : Use::kLoad;
    };
    if (product) {
      setting.product = product;
      setting.product_view = std::get<Matmul>(graph_.nodes[*product].kernel).out.view;
    }
    return {std::move(setting), std::move(shape)};
  }

  struct Start {
    std::vector<Dim> shape;
    View view;
    bool of_row = false;
  };
  // Ways to lay a region out for a node, the plainest first.
  std::vector<Start> starts_of(NodeId id) const {
    const auto& node = graph_.nodes[id].node;
    const auto whole = View::contiguous(node.shape);
    if (node.op == Op::kSum || node.op == Op::kMaxReduce) {
      return {{node.operands[0].view.shape, whole, true}};
    }
    std::vector<Start> starts;
    if (node.shape.empty()) {
      starts.push_back({{Dim(1)}, whole, true});
    } else {
      starts.push_back({node.shape, whole, false});
    }
    // The same elements under the shape of what they are computed of, which its views may need.
    auto at = id;
    for (int step = 0; step < 3 && !graph_.nodes[at].node.operands.empty(); ++step) {
      const auto& operand = graph_.nodes[at].node.operands[0];
      const auto& shape = graph_.nodes[operand.node].node.shape;
      const auto op = graph_.nodes[at].node.op;
      const bool is_elementwise = op != Op::kSum && op != Op::kMaxReduce && op != Op::kGather;
      if (!is_elementwise || graph_.nodes[at].is_kernel() || !operand.view.is_contiguous()) break;
      if (shape.empty() || !(product(shape) == product(node.shape))) break;
      if (!(shape == node.shape)) starts.push_back({shape, View::contiguous(shape), false});
      at = operand.node;
    }
    const auto length = reduced_length(id);
    if (!length) return starts;
    for (std::size_t axis = 0; axis + 1 < node.shape.size(); ++axis) {
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < node.shape.size(); ++i) {
        if (i != axis) order.push_back(i);
      }
      order.push_back(axis);
      const auto view = whole.permute(order);
      if (view.shape.back() == *length) starts.push_back({view.shape, view, false});
    }
    auto shape = node.shape;
    shape.push_back(*length);
    starts.push_back({std::move(shape), whole, true});
    return starts;
  }
  // How long the rows of the nearest reduction are that could be part of the region.
  std::optional<Dim> reduced_length(NodeId root) const {
    std::vector<NodeId> left = {root};
    std::set<NodeId> seen;
    while (!left.empty()) {
      const auto id = left.front();
      left.erase(left.begin());
      const auto& work = graph_.nodes[id];
      if (!seen.insert(id).second || work.is_kernel()) continue;
      if (id != root && plan_.has_buffer(id) && done_[id]) continue;
      const auto op = work.node.op;
      if (op == Op::kSum || op == Op::kMaxReduce) return work.node.operands[0].view.shape.back();
      for (const auto& operand : work.node.operands) left.push_back(operand.node);
      if (seen.size() > 64) return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<RegionMaker> region_of(NodeId id, const Start& start, bool shares) const {
    auto maker = maker_for(id, start.shape, shares);
    if (!maker.root(id, start.view, start.of_row)) return std::nullopt;
    return maker;
  }

  // The product whose sums a node's region could take as they come.
  std::optional<NodeId> epilogue_of(NodeId id) const {
    if (!choices_.epilogues || !choices_.regions) return std::nullopt;
    std::vector<NodeId> left = {id};
    marks_.begin();
    std::optional<NodeId> found;
    while (!left.empty()) {
      const auto at = left.back();
      left.pop_back();
      if (!plan_.follows_product(at) || !marks_.mark(at)) continue;
      const auto& work = graph_.nodes[at];
      if (const auto* matmul = std::get_if<Matmul>(&work.kernel)) {
        const auto& readers = plan_.readers(at);
        const bool is_only =
            std::ranges::all_of(readers, [&](NodeId reader) { return plan_.group(reader) == id; });
        const bool fits = work.node.shape == graph_.nodes[id].node.shape && is_only &&
                          work.node.dtype == matmul->accumulate && !is_output(at) && !done_[at];
        if (fits && (!found || at > *found)) found = at;
        continue;
      }
      const auto op = work.node.op;
      if (op == Op::kSum || op == Op::kMaxReduce || op == Op::kScatter) continue;
      if (at != id && plan_.has_buffer(at)) continue;
      for (const auto& operand : work.node.operands) left.push_back(operand.node);
    }
    return found;
  }
  bool is_output(NodeId id) const {
    return std::ranges::any_of(graph_.outputs, [&](const Output& o) { return o.node == id; });
  }
  // Those of everything that is in it.
  void add_rules(const RegionMaker& maker, NodeId root, Kernel& kernel) const {
    auto inside = maker.inlined();
    inside.insert(root);
    for (const auto id : inside) {
      for (const auto& rule : graph_.nodes[id].rules) {
        if (std::ranges::find(kernel.rules, rule) == kernel.rules.end()) {
          kernel.rules.push_back(rule);
        }
      }
    }
  }
  bool add_epilogue(NodeId id, NodeId product) {
    const auto& work = graph_.nodes[product];
    auto made = kernel_of(work, product);
    auto& matmul = std::get<Matmul>(made.kernel.work);
    auto maker = maker_for(id, matmul.out.view.shape, false, product);
    if (!maker.root(id, matmul.out.view, false) || maker.reduces()) return false;
    const auto& region = maker.region();
    if (region.values[region.stores[0].value].of_row) return false;
    const bool uses = std::ranges::any_of(region.values, [](const Region::Value& value) {
      return std::ranges::find(value.values, 0U) != value.values.end();
    });
    if (!uses || makes_a_circle(maker, product)) return false;
    // The epilogue's operands follow the product's.
    made.operands.pop_back();
    made.writes = {id};
    std::vector<std::uint32_t> place;
    for (const auto operand : maker.operands()) {
      const auto at = std::ranges::find(made.operands, operand);
      place.push_back(static_cast<std::uint32_t>(at - made.operands.begin()));
      if (at == made.operands.end()) made.operands.push_back(operand);
      if (operand != id) made.reads.insert(operand);
    }
    auto epilogue = region;
    for (std::size_t i = 1; i < epilogue.values.size(); ++i) {
      auto& value = epilogue.values[i];
      if (value.op == Op::kInput || value.op == Op::kGather) {
        value.access.operand = place[value.access.operand];
      }
    }
    for (auto& store : epilogue.stores) store.to.operand = place[store.to.operand];
    matmul.out = epilogue.stores[0].to;
    matmul.epilogue = std::move(epilogue);
    add_rules(maker, id, made.kernel);
    done_[product] = true;
    add(std::move(made));
    return true;
  }

  void add_region(NodeId id) {
    if (const auto product = epilogue_of(id); product && add_epilogue(id, *product)) return;
    std::optional<RegionMaker> best;
    const auto starts = starts_of(id);
    for (const auto& start : starts) {
      auto maker = region_of(id, start, choices_.shares);
      if (maker && makes_a_circle(*maker, {})) maker = region_of(id, start, false);
      if (maker && makes_a_circle(*maker, {})) maker.reset();
      const bool is_plainest = &start == &starts.front();
      if (maker && start.of_row && !is_plainest && !maker->reduces()) maker.reset();
      if (maker && (!best || maker->inlined().size() > best->inlined().size()))
        best = std::move(maker);
    }
    check(best.has_value(), "every node can be a region of its own");
    MadeKernel made;
    made.kernel.work = best->region();
    made.operands = best->operands();
    made.reads = best->loads();
    made.writes = best->stored();
    add_rules(*best, id, made.kernel);
    add(std::move(made));
  }

  const WorkGraph& graph_;
  const FuseChoices& choices_;
  FusionPlan plan_;
  std::vector<std::vector<NodeId>> also_after_;  // what a node waits for beside its operands
  NodeId least_waiting_up_ = ~NodeId{0};         // that waits for one of a greater number
  std::vector<bool> done_;
  std::vector<MadeKernel> made_;
  mutable Marks marks_;  // of one walk at a time
};

}  // namespace

WorkGraph work_graph_of(const Graph& graph) {
  WorkGraph work;
  work.symbols = graph.symbols();
  for (NodeId id = 0; id < graph.size(); ++id) {
    work.nodes.emplace_back();
    work.nodes.back().node = graph.node(id);
  }
  work.outputs = graph.outputs();
  return work;
}

Program lower(const WorkGraph& graph, const FuseChoices& choices) {
  return assembled(graph, Lowering(graph, choices).run());
}

}  // namespace assay::compiler
