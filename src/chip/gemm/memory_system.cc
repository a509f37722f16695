// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/memory_system.h"

#include <algorithm>
#include <numeric>

namespace assay::chip {

MemorySystem::MemorySystem(Simulator& simulator, const Topology& topology)
    : simulator_(simulator),
      burst_bytes_(topology.hbm.burst_bytes),
      hbm_(topology.hbm),
      noc_(simulator, topology) {
  for (std::int32_t pe = 0; pe < topology.pe_count(); ++pe) {
    std::vector<std::int64_t> ports(static_cast<std::size_t>(noc_.ports()));
    std::iota(ports.begin(), ports.end(), 0);
    std::stable_sort(ports.begin(), ports.end(), [&](std::int64_t a, std::int64_t b) {
      return noc_.latency(pe, a) < noc_.latency(pe, b);
    });
    nearest_.push_back(std::move(ports));
  }
}

void MemorySystem::read_at_port(std::int64_t port, const ReadPart& part, Progress& progress) {
  const DeliveryTree& tree = (*part.trees)[static_cast<std::size_t>(port)];
  const Time now = simulator_.now();
  for_each_burst(part.block, burst_bytes_, [&](std::int64_t burst) {
    if (port_of(burst) != port) return;
    const Hbm::Service service = hbm_.serve(burst, Direction::kRead, now);
    progress.wait = std::min(progress.wait, service.start - now);
    if (noc_.deliver(tree, service.end, part.arrived)) {
      // No link lies between: the end is known already, nothing is left to wait for.
      progress.end = std::max(progress.end, service.end);
      part.arrived[0]->count_down();
    }
  });
}

void MemorySystem::write(std::int32_t pe, const Block& block, Latch& written, Progress& progress) {
  const Time now = simulator_.now();
  for_each_burst(block, burst_bytes_, [&](std::int64_t burst) {
    const std::int64_t port = port_of(burst);
    if (noc_.path_to_port(pe, port).empty()) {
      const Hbm::Service service = hbm_.serve(burst, Direction::kWrite, now);
      progress.wait = std::min(progress.wait, service.start - now);
      progress.end = std::max(progress.end, service.end);
      written.count_down();
    } else {
      simulator_.start(write_burst(pe, port, burst, written, progress));
    }
  });
}

Process MemorySystem::write_burst(std::int32_t pe, std::int64_t port, std::int64_t burst,
                                  Latch& written, Progress& progress) {
  for (const auto link : noc_.path_to_port(pe, port)) {
    co_await simulator_.until(noc_.hop(link, simulator_.now()));
  }
  co_await simulator_.delay(noc_.occupancy());  // the tail
  const Time now = simulator_.now();
  const Hbm::Service service = hbm_.serve(burst, Direction::kWrite, now);
  progress.wait = std::min(progress.wait, service.start - now);
  co_await simulator_.until(service.end);
  written.count_down();
}

}  // namespace assay::chip
