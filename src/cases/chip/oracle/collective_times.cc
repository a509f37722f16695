// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/oracle/collective_times.h"

#include <algorithm>
#include <bit>

namespace assay::cases::chip {

std::optional<Ps> exact_time(const ChipNumbers& c, const ChipNetwork& network,
                             const AllReduceProblem& problem) {
  const std::int64_t p = network.ranks(), length = problem.length();
  if (length % p != 0 || c.adding_takes_time) return std::nullopt;
  const bool full = network.is("fully_connected"), star = network.is("switch");
  const Ps hop = (star ? 2 : 1) * c.latency;
  const auto wire = [&](std::int64_t elements) {
    return duration(elements * problem.element_bytes, c.link_gbps);
  };
  Ps time = c.endpoint;
  if (problem.algorithm == "ring" && !network.is("torus")) {
    for (std::int64_t step = 0; step < 2 * (p - 1); ++step)
      time += hop + wire(length / p) + c.endpoint;
    return time;
  }
  if (problem.algorithm == "bidirectional_ring" && (full || network.is("ring")) && p > 2 &&
      length % (2 * p) == 0) {
    // Half of each part goes either way round, on links of its own.
    for (std::int64_t step = 0; step < 2 * (p - 1); ++step) {
      time += hop + wire(length / p / 2) + c.endpoint;
    }
    return time;
  }
  if (problem.algorithm == "halving_doubling" && (full || star) &&
      std::has_single_bit(static_cast<std::uint64_t>(p))) {
    for (std::int64_t parts = 2; parts <= p; parts *= 2) {
      time += 2 * (hop + wire(length / parts) + c.endpoint);
    }
    return time;
  }
  if (problem.algorithm == "recursive_doubling" && (full || star) &&
      std::has_single_bit(static_cast<std::uint64_t>(p))) {
    for (std::int64_t step = 1; step < p; step *= 2) time += hop + wire(length) + c.endpoint;
    return time;
  }
  if (problem.algorithm == "direct" && (full || star)) {
    // A switch has one link to each rank: its messages queue there.
    const std::int64_t in_a_row = full ? 1 : p - 1;
    return time + 2 * (hop + in_a_row * wire(length / p) + c.endpoint);
  }
  return std::nullopt;
}

double least_seconds(const ChipNumbers& c, const ChipNetwork& network,
                     const AllReduceProblem& problem) {
  const auto p = static_cast<double>(network.ranks());
  const double injected = c.link_gbps * 1e9 * static_cast<double>(network.degree());
  const double bandwidth = 2 * (p - 1) / p * static_cast<double>(problem.bytes) / injected;
  Ps latency = network.farthest() * c.latency;
  if (problem.algorithm == "ring" || problem.algorithm.ends_with("doubling")) {
    const std::int64_t doublings =
        std::bit_width(static_cast<std::uint32_t>(network.ranks() - 1));  // ⌈log₂p⌉
    latency = std::max(latency, doublings * (network.nearest() * c.latency + c.endpoint));
  }
  return std::max(bandwidth, 1e-12 * static_cast<double>(latency));
}

}  // namespace assay::cases::chip
