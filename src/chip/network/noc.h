// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The network on the chip: a mesh of routers, one per processing element, XY routing, cut-through
// packets of one burst. A packet's head moves on after each hop's latency while its tail follows;
// it occupies every link for bytes / bandwidth. A multicast packet travels once along the common
// part of its routes and forks at routers. A processing element on the router of a memory port is
// reached without a link. Requests carry no data: they take the latency of their hops and no
// bandwidth.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "chip/kernel/simulator.h"
#include "chip/kernel/sync.h"
#include "chip/network/links.h"
#include "chip/topology/fabric.h"
#include "chip/topology/topology.h"

namespace assay::chip {

// The routes from one memory port to a set of processing elements, joined to a tree.
struct DeliveryTree {
  struct Branch {
    Fabric::LinkId via = -1;         // the link that leads here; -1: the port's own router
    std::int32_t member = -1;        // position in the set of who is delivered here; -1: nobody
    std::vector<std::int32_t> next;  // branches beyond
  };
  std::vector<Branch> branches;  // the first is the root
};

class Noc {
 public:
  Noc(Simulator& simulator, const Topology& topology);

  std::int64_t ports() const { return static_cast<std::int64_t>(port_nodes_.size()); }
  // From a processing element to a memory port, or back, without data.
  Time latency(std::int32_t pe, std::int64_t port) const;

  // The trees, one per port, to these processing elements; kept for later calls.
  const std::vector<DeliveryTree>& trees_to(std::span<const std::int32_t> pes);

  // Sends one burst that leaves the port at `ready` down a tree; `arrived` of each member is
  // counted down when the burst's tail is there (what the span points to must live until then).
  // Returns true, having done nothing, if the tree has no links: the burst is there at `ready`.
  bool deliver(const DeliveryTree& tree, Time ready, std::span<Latch* const> arrived);

  // The links from a processing element to a port.
  const std::vector<Fabric::LinkId>& path_to_port(std::int32_t pe, std::int64_t port) const;
  // Takes one link of a path for one burst: the time when the head is at its other end.
  Time hop(Fabric::LinkId link, Time now) { return links_.reserve(link, now, occupancy_) + hop_; }
  Time occupancy() const { return occupancy_; }
  Time busiest_link() const { return links_.busiest(); }

 private:
  Process branch(const DeliveryTree& tree, std::int32_t index, Time head,
                 std::span<Latch* const> arrived);

  Simulator& simulator_;
  Fabric fabric_;
  Links links_;
  Time hop_, occupancy_;
  std::vector<Fabric::Node> port_nodes_;
  std::vector<std::vector<Fabric::LinkId>> to_port_;  // [pe * ports + port]
  std::map<std::vector<std::int32_t>, std::vector<DeliveryTree>> trees_;
};

}  // namespace assay::chip
