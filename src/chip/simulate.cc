// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/simulate.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/json.h"
#include "chip/gemm/pe.h"
#include "chip/kernel/simulator.h"

namespace assay::chip {

GemmResult simulate_gemm(const GemmOptions& options, const Topology& topology) {
  // 1. What has to be done: tile steps for every processing element, with addresses and bytes.
  const GemmPlan plan = plan_gemm(options, topology);

  // 2. Who does it: memory, mesh and processing elements on one event kernel.
  Simulator simulator;
  Machine machine(simulator, topology, plan);
  std::vector<std::unique_ptr<Pe>> pes;
  for (std::int32_t id = 0; id < machine.log.pes; ++id) {
    pes.push_back(std::make_unique<Pe>(machine, id));
    pes.back()->spawn();
  }

  // 3. Let time pass. Everything that happens is written to the log.
  const RunOutcome outcome = simulator.run();
  if (!outcome.waiting.empty()) {
    throw InternalError("a tile pipeline deadlocks: " + outcome.waiting.front());
  }

  // 4. What the log says, beside what theory says.
  GemmResult result;
  result.options = options;
  result.topology = topology;
  result.log = std::move(machine.log);
  result.metrics = measure(result.log, topology, {});
  result.end_to_end = window_of(result.log, {WindowKind::kComposite, true, 0}).length();
  result.use = {machine.memory.hbm().busiest(Direction::kRead),
                machine.memory.hbm().busiest(Direction::kWrite),
                machine.memory.noc().busiest_link(), 0};
  for (const auto& pe : plan.pes) {
    result.use.sram_bytes = std::max(result.use.sram_bytes, pe.sram_bytes);
  }
  result.closed_form = closed_form(plan, topology);
  result.bounds = gemm_bounds(plan, topology);
  result.tiles = plan.tiles();
  result.planned_read_bytes = plan.load_bytes + plan.stream_bytes;
  result.planned_write_bytes = plan.write_bytes;
  result.events = outcome.events;
  return result;
}

Json to_json(const GemmResult& result) {
  const GemmMetrics& metrics = result.metrics;
  Json stages;
  for (const Stage stage : kStages) {
    const StageMetrics& m = metrics[stage];
    stages[std::string(name_of(stage))] = {{"records", m.records},
                                           {"slots", m.slots},
                                           {"busy_ns", to_ns(m.busy)},
                                           {"blocked_ns", to_ns(m.blocked)},
                                           {"starved_ns", to_ns(m.starved)},
                                           {"queued_ns", to_ns(m.queued)},
                                           {"queue_wait_ns", to_ns(m.queue_wait)},
                                           {"bytes", m.bytes}};
  }
  const Json use = {{"channel_read_ns", to_ns(result.use.channel_read)},
                    {"channel_write_ns", to_ns(result.use.channel_write)},
                    {"link_ns", to_ns(result.use.link)},
                    {"sram_bytes", result.use.sram_bytes}};
  return {{"gemm", to_string(result.options.shape)},
          {"variant", name_of(result.options.variant)},
          {"loop_order", name_of(result.options.order)},
          {"multicast", result.options.multicast},
          {"seed", result.options.seed},
          {"time_ns", to_ns(metrics.window.length())},
          {"window", name_of(metrics.window.options)},
          {"time_with_load_ns", to_ns(result.end_to_end)},
          {"tiles", result.tiles},
          {"mac_utilisation", metrics.mac_utilisation},
          {"useful_efficiency", metrics.useful_efficiency},
          {"padded_fraction", metrics.padded_fraction},
          {"stages", stages},
          {"use", use},
          {"closed_form_ns", to_ns(result.closed_form.time)},
          {"closed_form_exact", result.closed_form.exact},
          {"bound_ns", to_ns(result.bounds.best())},
          {"roofline_ns", to_ns(result.bounds.roofline)},
          {"roofline_with_load_ns", to_ns(result.bounds.roofline_with_load)},
          {"events", result.events},
          {"engine_version", kEngineVersion},
          {"topology", result.topology.to_json()},
          {"topology_hash", result.topology.hash()}};
}

}  // namespace assay::chip
