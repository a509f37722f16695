// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/network/noc.h"

namespace assay::chip {

Noc::Noc(Simulator& simulator, const Topology& topology)
    : simulator_(simulator),
      fabric_(Fabric::on_chip(topology.pe)),
      links_(fabric_.links().size()),
      hop_(topology.noc.hop),
      occupancy_(topology.noc.link.duration(topology.hbm.burst_bytes)) {
  for (const auto port : topology.noc.memory_ports) {
    port_nodes_.push_back(static_cast<Fabric::Node>(port.row * topology.pe.columns + port.column));
  }
  for (Fabric::Node pe = 0; pe < fabric_.ranks(); ++pe) {
    for (const auto port : port_nodes_) to_port_.push_back(fabric_.route(pe, port));
  }
}

const std::vector<Fabric::LinkId>& Noc::path_to_port(std::int32_t pe, std::int64_t port) const {
  return to_port_[static_cast<std::size_t>(pe * ports() + port)];
}

Time Noc::latency(std::int32_t pe, std::int64_t port) const {
  return static_cast<Time>(path_to_port(pe, port).size()) * hop_;
}

const std::vector<DeliveryTree>& Noc::trees_to(std::span<const std::int32_t> pes) {
  const std::vector<std::int32_t> key(pes.begin(), pes.end());
  if (const auto it = trees_.find(key); it != trees_.end()) return it->second;
  std::vector<DeliveryTree> trees;
  for (const auto port : port_nodes_) {
    DeliveryTree tree;
    tree.branches.emplace_back();
    std::map<Fabric::Node, std::int32_t> known = {{port, 0}};
    for (std::int32_t member = 0; const auto pe : key) {
      // XY routes from one router never meet again after they part, so their union is a tree.
      std::int32_t at = 0;
      for (const auto link : fabric_.route(port, pe)) {
        const auto node = fabric_.links()[static_cast<std::size_t>(link)].to;
        const auto [it, fresh] =
            known.try_emplace(node, static_cast<std::int32_t>(tree.branches.size()));
        if (fresh) {
          tree.branches.push_back({link, -1, {}});
          tree.branches[static_cast<std::size_t>(at)].next.push_back(it->second);
        }
        at = it->second;
      }
      tree.branches[static_cast<std::size_t>(at)].member = member++;
    }
    trees.push_back(std::move(tree));
  }
  return trees_.emplace(key, std::move(trees)).first->second;
}

bool Noc::deliver(const DeliveryTree& tree, Time ready, std::span<Latch* const> arrived) {
  if (tree.branches.size() == 1) return true;
  simulator_.start(branch(tree, 0, ready, arrived));
  return false;
}

Process Noc::branch(const DeliveryTree& tree, std::int32_t index, Time head,
                    std::span<Latch* const> arrived) {
  co_await simulator_.until(head);
  const auto& here = tree.branches[static_cast<std::size_t>(index)];
  for (const auto next : here.next) {
    const auto link = tree.branches[static_cast<std::size_t>(next)].via;
    simulator_.start(branch(tree, next, hop(link, simulator_.now()), arrived));
  }
  if (here.member < 0) co_return;
  if (here.via >= 0) co_await simulator_.delay(occupancy_);  // the tail
  arrived[static_cast<std::size_t>(here.member)]->count_down();
}

}  // namespace assay::chip
