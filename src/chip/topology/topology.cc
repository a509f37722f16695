// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/topology/topology.h"

#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "chip/topology/topology_names.h"

namespace assay::chip {

std::string_view name_of(MacKind kind) { return kMacKinds[kind]; }
std::string_view name_of(Dataflow dataflow) { return kDataflows[dataflow]; }
std::string_view name_of(Layout layout) { return kLayouts[layout]; }
std::string_view name_of(BufferRelease release) { return kBufferReleases[release]; }
std::string_view name_of(NetworkKind kind) { return kNetworkKinds[kind]; }

Time HbmTopology::burst_time() const {
  const Time busy = channel.duration(burst_bytes);
  if (refresh_share == 0) return busy;
  return static_cast<Time>(std::ceil(static_cast<double>(busy) / (1 - refresh_share)));
}

Time NetworkTopology::reduce_time(std::int64_t bytes) const {
  return memory ? memory->duration(3 * bytes) : 0;
}

double Topology::hbm_bytes_per_second() const {
  return static_cast<double>(hbm.channels * hbm.burst_bytes) / to_seconds(hbm.burst_time());
}

double Topology::peak_macs_per_second() const {
  if (mac.kind == MacKind::kRate) return static_cast<double>(mac.rate.per_second());
  return static_cast<double>(mac.array_rows * mac.array_columns) *
         static_cast<double>(clock.per_second());
}

namespace {

Json network_json(const NetworkTopology& network) {
  Json out = {{"kind", name_of(network.kind)},
              {"ranks", network.ranks},
              {"link_GBps", network.link.giga()},
              {"link_ns", to_ns(network.link_latency)},
              {"endpoint_ns", to_ns(network.endpoint)},
              {"memory_GBps", network.memory ? network.memory->giga() : 0.0}};
  if (network.kind == NetworkKind::kMesh || network.kind == NetworkKind::kTorus) {
    out["rows"] = network.rows;
    out["columns"] = network.columns;
  }
  if (network.kind == NetworkKind::kFatTree) {
    out["leaves"] = network.leaves;
    out["ranks_per_leaf"] = network.ranks_per_leaf;
    out["spines"] = network.spines;
  }
  if (network.kind == NetworkKind::kCustom) {
    out["switches"] = network.switches;
    out["links"] = network.links;
  }
  return out;
}

}  // namespace

Json Topology::to_json() const {
  Json ports = Json::array();
  for (const auto port : noc.memory_ports) ports.push_back({port.row, port.column});
  return {{"name", name},
          {"clock", {{"core_GHz", clock.giga()}}},
          {"pe",
           {{"rows", pe.rows},
            {"columns", pe.columns},
            {"sram_bytes", pe.sram_bytes},
            {"buffer_depth", pe.buffer_depth},
            {"buffer_release", name_of(pe.buffer_release)},
            {"output_buffers", pe.output_buffers},
            {"fetch_GBps", pe.fetch.giga()}}},
          {"mac",
           {{"kind", name_of(mac.kind)},
            {"macs_per_ns", mac.rate.giga()},
            {"array_rows", mac.array_rows},
            {"array_columns", mac.array_columns},
            {"dataflow", name_of(mac.dataflow)}}},
          {"tile",
           {{"m", tile.m}, {"k", tile.k}, {"n", tile.n}, {"element_bytes", tile.element_bytes}}},
          {"dma", {{"queues", dma.queues}, {"setup_ns", to_ns(dma.setup)}}},
          {"hbm",
           {{"channels", hbm.channels},
            {"channel_GBps", hbm.channel.giga()},
            {"burst_bytes", hbm.burst_bytes},
            {"turnaround_ns", to_ns(hbm.turnaround)},
            {"refresh_share", hbm.refresh_share},
            {"separate_write_path", hbm.separate_write_path},
            {"layout", name_of(hbm.layout)}}},
          {"noc",
           {{"link_GBps", noc.link.giga()}, {"hop_ns", to_ns(noc.hop)}, {"memory_ports", ports}}},
          {"network", network_json(network)}};
}

Topology with_grid(Topology topology, std::int64_t rows, std::int64_t columns) {
  if (rows < 1 || columns < 1 || rows > kMaxElements / columns) {
    fail("a grid has 1 to {} processing elements, got {}x{}", kMaxElements, rows, columns);
  }
  for (const auto port : topology.noc.memory_ports) {
    if (port.row >= rows || port.column >= columns) {
      fail("noc.memory_ports: [{}, {}] lies outside the {}x{} grid", port.row, port.column, rows,
           columns);
    }
  }
  topology.pe.rows = rows;
  topology.pe.columns = columns;
  return topology;
}

std::string Topology::hash() const {
  Json numbers = to_json();
  numbers.erase("name");
  return short_hash(canonical_json(numbers));
}

}  // namespace assay::chip
