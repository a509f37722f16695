// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/closed_form.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "chip/gemm/systolic.h"
#include "chip/kernel/whole_parts.h"

namespace assay::chip {
namespace {

Time sum(std::span<const Time> times) {
  return std::accumulate(times.begin(), times.end(), Time{0});
}
Time largest(std::span<const Time> times) { return *std::max_element(times.begin(), times.end()); }

// The time that all channels together need for that many bytes in whole bursts.
Time memory_time(std::int64_t bytes, const HbmTopology& hbm) {
  return ceil_div(ceil_div(bytes, hbm.burst_bytes), hbm.channels) * hbm.burst_time();
}

// Why simulation may differ from the formula; empty if it may not.
std::string obstacle(const GemmPlan& plan, const Topology& topology, const ClosedForm& form) {
  const auto& tile = topology.tile;
  const auto& hbm = topology.hbm;
  if (topology.pe_count() > 1) return "several processing elements share memory";
  if (hbm.layout != Layout::kTileContiguous) return "rows of a tile waste parts of bursts";
  if (!hbm.separate_write_path) return "reads and writes share the channels";
  if (topology.dma.setup > 0) return "requests have a setup time";
  const std::int64_t line = hbm.channels * hbm.burst_bytes;
  const std::int64_t a = tile.m * tile.k, b = tile.k * tile.n, c = tile.m * tile.n;
  const bool streams_a = plan.options.variant == Variant::kRefRef;
  const bool streams_b = plan.options.variant != Variant::kLoadLoad;
  for (const auto elements : {streams_a ? a : 0, streams_b ? b : 0, c}) {
    if (elements * tile.element_bytes % line != 0) return "tiles do not fill all channels evenly";
  }
  const std::int64_t outputs = plan.m_tiles * plan.n_tiles;
  const bool k_innermost = name_of(plan.options.order).back() == 'k';
  if (!k_innermost && outputs > 1 && plan.k_tiles > 1) return "several output tiles are open";
  const std::vector<Time> stages = {form.stages.in, form.stages.fetch, form.stages.gemm};
  const Time m = largest(stages);
  const bool output_bound = form.stages.out > plan.k_tiles * m;
  if (outputs > 1 && topology.pe.output_buffers < (output_bound ? outputs : 2)) {
    return "the next output waits for a buffer";
  }
  const Time span = form.stages.in + form.stages.fetch +
                    (topology.pe.buffer_release == BufferRelease::kGemm ? form.stages.gemm : 0);
  if (output_bound && topology.pe.buffer_depth * m < span) {
    return "operand buffers and outputs both limit";
  }
  return {};
}

}  // namespace

Time pipeline_time(std::span<const Time> stages, std::int64_t n) {
  check(n > 0 && !stages.empty(), "a pipeline has steps and stages");
  return sum(stages) + (n - 1) * largest(stages);
}

Time buffered_pipeline_time(std::span<const Time> stages, std::int64_t n, std::int64_t buffers,
                            std::size_t last) {
  check(n > 0 && buffers > 0 && last < stages.size(), "a pipeline has steps, stages and buffers");
  const Time m = largest(stages);
  const Time span = sum(stages.first(last + 1));
  return sum(stages) + (n - 1) / buffers * std::max(buffers * m, span) + (n - 1) % buffers * m;
}

Time output_pipeline_time(std::span<const Time> stages, std::int64_t k_steps, std::int64_t outputs,
                          Time t_out) {
  check(k_steps > 0 && outputs > 0, "a pipeline has outputs");
  const Time m = largest(stages);
  if (t_out <= k_steps * m) return sum(stages) + (k_steps * outputs - 1) * m + t_out;
  return sum(stages) + (k_steps - 1) * m + outputs * t_out;
}

StageTimes stage_times(const GemmOptions& options, const Topology& topology) {
  const auto& tile = topology.tile;
  const std::int64_t a = tile.m * tile.k * tile.element_bytes;
  const std::int64_t b = tile.k * tile.n * tile.element_bytes;
  const std::int64_t streamed = options.variant == Variant::kRefRef    ? a + b
                                : options.variant == Variant::kLoadRef ? b
                                                                       : 0;
  return {memory_time(streamed, topology.hbm), topology.pe.fetch.duration(a + b),
          tile_compute_time(topology),
          memory_time(tile.m * tile.n * tile.element_bytes, topology.hbm)};
}

ClosedForm closed_form(const GemmPlan& plan, const Topology& topology) {
  ClosedForm form;
  form.stages = stage_times(plan.options, topology);
  form.load = memory_time(plan.load_bytes, topology.hbm);
  std::int64_t outputs = 0;
  for (const auto& pe : plan.pes) {
    const auto steps = static_cast<std::int64_t>(pe.steps.size());
    if (steps > form.steps) outputs = steps / plan.k_tiles;
    form.steps = std::max(form.steps, steps);
  }
  std::vector<Time> stages = {form.stages.in, form.stages.fetch, form.stages.gemm};
  const std::size_t last = topology.pe.buffer_release == BufferRelease::kGemm ? 2 : 1;
  const Time buffered =
      buffered_pipeline_time(stages, form.steps, topology.pe.buffer_depth, last) + form.stages.out;
  const Time unbuffered = output_pipeline_time(stages, plan.k_tiles, outputs, form.stages.out);
  form.time = std::max(buffered, unbuffered);
  // Memory is shared by all elements: no estimate may beat it.
  form.time = std::max({form.time, memory_time(plan.stream_bytes, topology.hbm),
                        memory_time(plan.write_bytes, topology.hbm)});
  form.why_not_exact = obstacle(plan, topology, form);
  form.exact = form.why_not_exact.empty();
  return form;
}

}  // namespace assay::chip
