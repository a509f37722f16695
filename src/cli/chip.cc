// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "chip/collective.h"
#include "chip/explain.h"
#include "chip/quantity.h"
#include "chip/shape.h"
#include "chip/simulate.h"
#include "chip/trace.h"
#include "chip/transport.h"
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
  const auto result = chip::simulate_gemm(gemm_options(a), topology);
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
  options.bytes = static_cast<std::int64_t>(parse_bytes(a.bytes, "--bytes"));
  options.contention = chip::parse_contention(a.contention);
  options.splits = a.splits;
  const auto result = chip::simulate_collective(options, topology);
  if (!a.trace.empty()) write_file_atomically(a.trace, chip::collective_trace(result));
  print(a.json ? pretty_json(chip::to_json(result)) + "\n" : chip::to_text(result));
  return kFine;
}

int check_topology(const ChipArguments& a) {
  const auto topology = topology_of(a);
  print(a.json ? pretty_json(chip::describe(topology)) + "\n" : chip::describe_text(topology));
  return kFine;
}

}  // namespace

int simulate_chip(const ChipArguments& a) {
  if (a.action == "run") return run_gemm(a);
  if (a.action == "explain") return explain(a);
  if (a.action == "collective") return run_collective(a);
  check(a.action == "check", "every action of `assay chip` has a function");
  return check_topology(a);
}

}  // namespace assay::cli
