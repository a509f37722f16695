// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory as a DMA engine sees it: pseudo-channels behind the ports of the mesh. Splits blocks into
// bursts, has them served by their channels and carried over the links.

#include <span>
#include <vector>

#include "chip/gemm/hbm.h"
#include "chip/gemm/memory_map.h"
#include "chip/network/noc.h"

namespace assay::chip {

// How a request fares: when its first burst was served, and the end of what needed no link.
struct Progress {
  Time wait = kEndOfTime;  // of the burst that waited least for its channel: the request's queueing
  Time end = 0;
};

// A block on its way to one or several processing elements.
struct ReadPart {
  Block block;
  const std::vector<DeliveryTree>* trees = nullptr;  // one per port
  std::span<Latch* const> arrived;                   // one per member, counting the block's bursts
};

class MemorySystem {
 public:
  MemorySystem(Simulator& simulator, const Topology& topology);

  Noc& noc() { return noc_; }
  const Hbm& hbm() const { return hbm_; }
  std::int64_t bursts(const Block& block) const { return burst_count(block, burst_bytes_); }
  std::int64_t burst_bytes() const { return burst_bytes_; }
  // The ports from the nearest to the farthest: the order in which a request reaches them.
  const std::vector<std::int64_t>& ports_by_distance(std::int32_t pe) const {
    return nearest_[static_cast<std::size_t>(pe)];
  }

  // Serves the part's bursts that lie behind `port`, whose request has just arrived there.
  void read_at_port(std::int64_t port, const ReadPart& part, Progress& progress);
  // Sends the block from a processing element and writes it; `written` counts its bursts. Both must
  // live until then.
  void write(std::int32_t pe, const Block& block, Latch& written, Progress& progress);

 private:
  Process write_burst(std::int32_t pe, std::int64_t port, std::int64_t burst, Latch& written,
                      Progress& progress);
  std::int64_t port_of(std::int64_t burst) const { return hbm_.channel_of(burst) % noc_.ports(); }

  Simulator& simulator_;
  std::int64_t burst_bytes_;
  Hbm hbm_;
  Noc noc_;
  std::vector<std::vector<std::int64_t>> nearest_;  // by processing element
};

}  // namespace assay::chip
