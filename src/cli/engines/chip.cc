// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "base/error.h"
#include "base/file.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "chip/collective.h"
#include "chip/gemm/scalesim.h"
#include "chip/gemm/shape.h"
#include "chip/kernel/quantity.h"
#include "chip/network/transport.h"
#include "chip/show/explain.h"
#include "chip/show/trace.h"
#include "chip/simulate.h"
#include "cli/commands.h"
#include "cli/program.h"

namespace assay::cli {
namespace {

chip::Topology topology_of(const ChipArguments& a) {
  return a.topology.empty() ? chip::default_topology() : chip::read_topology(a.topology);
}

chip::GemmOptions gemm_options(const ChipArguments& a) {
  chip::GemmOptions options;
  options.shape = chip::parse_gemm_shape(a.gemm);
  options.variant = chip::parse_variant(a.variant);
  options.order = chip::parse_loop_order(a.order);
  options.multicast = a.multicast;
  return options;
}

int run_gemm(const ChipArguments& a) {
  const auto topology = topology_of(a);
  auto result = chip::simulate_gemm(gemm_options(a), topology);
  result.metrics =
      chip::measure(result.log, topology, chip::parse_window(a.window, result.log.pes));
  if (!a.op_log.empty()) write_file_atomically(a.op_log, chip::to_csv(result.log));
  if (!a.trace.empty()) write_file_atomically(a.trace, chip::gemm_trace(result, topology));
  print(a.json ? pretty_json(chip::to_json(result)) + "\n" : chip::to_text(result));
  return kFine;
}

int explain(const ChipArguments& a) {
  const auto explanation = chip::explain_gemm(gemm_options(a), topology_of(a));
  print(a.json ? pretty_json(chip::to_json(explanation)) + "\n" : chip::to_text(explanation));
  return kFine;
}

// Flags change what the topology file says of the network.
chip::Topology with_network(chip::Topology topology, const ChipArguments& a) {
  auto& network = topology.network;
  if (!a.network.empty()) network = chip::parse_network(a.network, a.ranks, network);
  if (a.network.empty() && a.ranks != 0) fail("--ranks needs --network, got {} ranks", a.ranks);
  if (!a.bandwidth.empty()) network.link = chip::parse_bandwidth(a.bandwidth, "--bandwidth");
  if (!a.latency.empty()) network.link_latency = chip::parse_latency(a.latency, "--latency");
  if (!a.endpoint.empty()) network.endpoint = chip::parse_latency(a.endpoint, "--endpoint");
  return topology;
}

int run_collective(const ChipArguments& a) {
  const auto topology = with_network(topology_of(a), a);
  chip::CollectiveOptions options;
  options.collective = chip::parse_collective(a.collective);
  options.algorithm = chip::parse_algorithm(a.algorithm);
  options.bytes = static_cast<std::int64_t>(parse_whole_bytes(a.bytes, "--bytes"));
  options.contention = chip::parse_contention(a.contention);
  options.splits = a.splits;
  options.segments = a.segments;
  options.group = a.group;
  const auto result = chip::simulate_collective(options, topology);
  if (!a.trace.empty()) write_file_atomically(a.trace, chip::collective_trace(result));
  print(a.json ? pretty_json(chip::to_json(result)) + "\n" : chip::to_text(result));
  return kFine;
}

// Layers of a SCALE-Sim file, or one product, on the topology's array or on SCALE-Sim's.
int run_systolic(const ChipArguments& a) {
  const auto mac = topology_of(a).mac;
  chip::SystolicArray array{mac.array_rows, mac.array_columns, mac.dataflow};
  if (!a.scalesim_config.empty()) {
    array = chip::parse_scalesim_config(read_input_file(a.scalesim_config), a.scalesim_config);
  }
  if (a.gemm.empty() == a.scalesim_topology.empty()) {
    fail("`assay chip systolic` needs either --gemm or --scalesim-topology");
  }
  std::vector<chip::ScaleSimLayer> layers;
  if (a.gemm.empty()) {
    layers =
        chip::parse_scalesim_topology(read_input_file(a.scalesim_topology), a.scalesim_topology);
  } else {
    layers.push_back({a.gemm, chip::parse_gemm_shape(a.gemm)});
  }
  Json list = Json::array();
  std::string text =
      fmt::format("{}x{} array, {}\n{:24} {:>20} {:>14} {:>14}\n", array.rows, array.columns,
                  chip::name_of(array.dataflow), "layer", "MxKxN", "cycles", "last cycle");
  for (const auto& layer : layers) {
    const auto cycles = chip::systolic_cycles(layer.gemm, array);
    const auto last = chip::scalesim_compute_cycles(layer, array);
    list.push_back({{"layer", layer.name},
                    {"gemm", chip::to_string(layer.gemm)},
                    {"cycles", cycles},
                    {"scalesim_compute_cycles", last}});
    text += fmt::format("{} {:>20} {:>14} {:>14}\n", pad_right(printable(layer.name), 24),
                        chip::to_string(layer.gemm), cycles, last);
  }
  const Json json = {{"array_rows", array.rows},
                     {"array_columns", array.columns},
                     {"dataflow", chip::name_of(array.dataflow)},
                     {"layers", list}};
  print(a.json ? pretty_json(json) + "\n" : text);
  return kFine;
}

int check_topology(const ChipArguments& a) {
  const auto topology = topology_of(a);
  print(a.json ? pretty_json(chip::describe(topology)) + "\n" : chip::describe_text(topology));
  return kFine;
}

}  // namespace

int simulate_chip(const ChipArguments& a) {
  using Action = ChipArguments::Action;
  switch (a.action) {
    case Action::kRun:
      return run_gemm(a);
    case Action::kExplain:
      return explain(a);
    case Action::kCollective:
      return run_collective(a);
    case Action::kSystolic:
      return run_systolic(a);
    case Action::kCheckTopology:
      return check_topology(a);
  }
  throw InternalError("an action is one of its enumerators");
}

}  // namespace assay::cli
