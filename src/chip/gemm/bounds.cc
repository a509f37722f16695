// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/bounds.h"

#include <algorithm>
#include <cmath>

#include "chip/gemm/closed_form.h"

namespace assay::chip {
namespace {

Time channels_busy(std::int64_t bytes, const HbmTopology& hbm) {
  const std::int64_t bursts = (bytes + hbm.burst_bytes - 1) / hbm.burst_bytes;
  return (bursts + hbm.channels - 1) / hbm.channels * hbm.burst_time();
}

// The element's first step must arrive before anything else can run, and its last output leaves
// after everything else: the longest engine stands between the two.
Time path_bound(const PePlan& pe, const GemmPlan& plan, const Topology& topology) {
  if (pe.steps.empty()) return 0;
  const StageTimes t = stage_times(plan.options, topology);
  const auto n = static_cast<Time>(pe.steps.size());
  const TileStep& first = pe.steps.front();
  const TileStep& last = pe.steps.back();
  std::int64_t first_bursts = 0;
  const std::int64_t burst_bytes = topology.hbm.burst_bytes;
  if (plan.options.variant != Variant::kLoadLoad) {
    first_bursts += burst_count(plan.memory.b_tile(first.k, first.j), burst_bytes);
  }
  if (plan.options.variant == Variant::kRefRef) {
    first_bursts += burst_count(plan.memory.a_tile(first.i, first.k), burst_bytes);
  }
  const Time in = channels_busy(first_bursts * burst_bytes, topology.hbm);
  const std::int64_t last_bursts = burst_count(plan.memory.c_tile(last.i, last.j), burst_bytes);
  const Time out = channels_busy(last_bursts * burst_bytes, topology.hbm);
  return std::max(in + n * t.fetch + t.gemm + out, in + t.fetch + n * t.gemm + out);
}

}  // namespace

Time GemmBounds::best() const {
  return std::max({dma_in, fetch, gemm, dma_out, shared, path, roofline});
}

GemmBounds gemm_bounds(const GemmPlan& plan, const Topology& topology) {
  const auto& hbm = topology.hbm;
  const StageTimes t = stage_times(plan.options, topology);
  GemmBounds bounds;
  bounds.dma_in = channels_busy(plan.stream_bytes, hbm);
  bounds.dma_out = channels_busy(plan.write_bytes, hbm);
  if (!hbm.separate_write_path) {
    bounds.shared = channels_busy(plan.stream_bytes + plan.write_bytes, hbm);
  }
  for (const auto& pe : plan.pes) {
    const auto n = static_cast<Time>(pe.steps.size());
    bounds.fetch = std::max(bounds.fetch, n * t.fetch);
    bounds.gemm = std::max(bounds.gemm, n * t.gemm);
    bounds.path = std::max(bounds.path, path_bound(pe, plan, topology));
  }
  const double compute =
      static_cast<double>(plan.macs) /
      (topology.peak_macs_per_second() * static_cast<double>(topology.pe_count()));
  const auto roofline = [&](std::int64_t read) {
    // Reads and writes that share the channels add up; on paths of their own the longer counts.
    const std::int64_t bytes =
        hbm.separate_write_path ? std::max(read, plan.write_bytes) : read + plan.write_bytes;
    const double memory = static_cast<double>(bytes) / topology.hbm_bytes_per_second();
    // To the nearest picosecond: a quotient of doubles that is whole may come out just below.
    const double picoseconds = std::max(compute, memory) * 1e12;
    return static_cast<Time>(std::floor(picoseconds * (1 + 1e-13)));
  };
  bounds.roofline = roofline(plan.stream_bytes);
  bounds.roofline_with_load = roofline(plan.load_bytes + plan.stream_bytes);
  return bounds;
}

}  // namespace assay::chip
