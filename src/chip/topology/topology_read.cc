// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// From a TOML file to a Topology. Every refusal is one line that names file, line and key.

#include <cmath>

#include "base/input_file.h"
#include "base/toml.h"
#include "chip/topology/fabric.h"
#include "chip/topology/topology.h"
#include "chip/topology/topology_names.h"

namespace assay::chip {
namespace {

// Guards against files that would exhaust this computer rather than describe another.
constexpr std::int64_t kMaxCount = 1 << 12;  // processing elements, channels, …
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;
constexpr double kMaxGiga = 1e9;  // a billion GB/s
constexpr double kMaxNs = 1e9;    // a second

std::int64_t count(const TomlTable& table, std::string_view key, std::int64_t low = 1,
                   std::int64_t high = kMaxCount) {
  const std::int64_t value = table.integer(key);
  if (value < low || value > high) {
    table.reject(key, "must be between {} and {}, got {}", low, high, value);
  }
  return value;
}

// A rate in 10^9 per second.
Rate giga(const TomlTable& table, std::string_view key) {
  const double value = table.number(key);
  if (value <= 0) table.reject(key, "must be positive, got {}", value);
  if (value * 1e9 < 1 || value > kMaxGiga) table.reject(key, "out of range, got {}", value);
  return Rate(std::llround(value * 1e9));
}

Time nanoseconds(const TomlTable& table, std::string_view key) {
  const double value = table.number(key);
  if (!(value >= 0 && value <= kMaxNs)) {
    table.reject(key, "must be between 0 and {:.0f}, got {}", kMaxNs, value);
  }
  return std::llround(value * 1e3);
}

template <typename Value, std::size_t kCount>
Value choice(const TomlTable& table, std::string_view key, const Names<Value, kCount>& names) {
  const std::string text = table.text(key);
  if (const auto value = names.find(text)) return *value;
  table.reject(key, "expected one of {}, got '{}'", names.list(), text);
}

PeTopology read_pe(const TomlTable& table) {
  PeTopology pe;
  pe.rows = count(table, "rows");
  pe.columns = count(table, "columns");
  if (pe.rows * pe.columns > kMaxElements) {
    table.reject("columns", "at most {} processing elements, got {}", kMaxElements,
                 pe.rows * pe.columns);
  }
  pe.sram_bytes = count(table, "sram_bytes", 1, kMaxBytes);
  pe.buffer_depth = count(table, "buffer_depth");
  pe.buffer_release = choice(table, "buffer_release", kBufferReleases);
  pe.output_buffers = count(table, "output_buffers", 1, kMaxBytes);
  pe.fetch = giga(table, "fetch_GBps");
  return pe;
}

MacTopology read_mac(const TomlTable& table) {
  MacTopology mac;
  mac.kind = choice(table, "kind", kMacKinds);
  mac.rate = giga(table, "macs_per_ns");
  mac.array_rows = count(table, "array_rows");
  mac.array_columns = count(table, "array_columns");
  mac.dataflow = choice(table, "dataflow", kDataflows);
  return mac;
}

HbmTopology read_hbm(const TomlTable& table) {
  HbmTopology hbm;
  hbm.channels = count(table, "channels");
  hbm.channel = giga(table, "channel_GBps");
  hbm.burst_bytes = count(table, "burst_bytes", 1, kMaxBytes);
  hbm.turnaround = nanoseconds(table, "turnaround_ns");
  hbm.refresh_share = table.number("refresh_share");
  if (!(hbm.refresh_share >= 0 && hbm.refresh_share <= 0.99)) {
    table.reject("refresh_share", "must be between 0 and 0.99, got {}", hbm.refresh_share);
  }
  hbm.separate_write_path = table.flag("separate_write_path");
  hbm.layout = choice(table, "layout", kLayouts);
  return hbm;
}

NocTopology read_noc(const TomlTable& table, const PeTopology& pe) {
  NocTopology noc;
  noc.link = giga(table, "link_GBps");
  noc.hop = nanoseconds(table, "hop_ns");
  for (const auto& row : table.integer_rows("memory_ports")) {
    if (row.size() != 2) table.reject("memory_ports", "expected [row, column] pairs");
    if (row[0] < 0 || row[0] >= pe.rows || row[1] < 0 || row[1] >= pe.columns) {
      table.reject("memory_ports", "[{}, {}] lies outside the {}x{} grid", row[0], row[1], pe.rows,
                   pe.columns);
    }
    noc.memory_ports.push_back({row[0], row[1]});
  }
  if (noc.memory_ports.empty()) {
    table.reject("memory_ports", "memory is disconnected: at least one port is needed");
  }
  return noc;
}

// The keys that depend on the kind of network.
void read_shape(const TomlTable& table, NetworkTopology& network) {
  std::int64_t expected = network.ranks;
  switch (network.kind) {
    case NetworkKind::kRing:
    case NetworkKind::kFullyConnected:
    case NetworkKind::kSwitch:
      break;
    case NetworkKind::kMesh:
    case NetworkKind::kTorus:
      network.rows = count(table, "rows");
      network.columns = count(table, "columns");
      expected = network.rows * network.columns;
      break;
    case NetworkKind::kFatTree:
      network.leaves = count(table, "leaves");
      network.ranks_per_leaf = count(table, "ranks_per_leaf");
      network.spines = count(table, "spines");
      expected = network.leaves * network.ranks_per_leaf;
      break;
    case NetworkKind::kCustom: {
      network.switches = count(table, "switches", 0, kMaxRanks);
      const std::int64_t nodes = network.ranks + network.switches;
      for (const auto& row : table.integer_rows("links")) {
        if (row.size() != 2) table.reject("links", "expected [from, to] pairs");
        for (const auto end : row) {
          if (end < 0 || end >= nodes) table.reject("links", "no node {} among {}", end, nodes);
        }
        if (row[0] == row[1]) table.reject("links", "node {} is linked to itself", row[0]);
        network.links.emplace_back(row[0], row[1]);
      }
      break;
    }
  }
  if (network.ranks != expected) {
    table.reject("ranks", "must be {} for this {}, got {}", expected, name_of(network.kind),
                 network.ranks);
  }
}

NetworkTopology read_network(const TomlTable& table) {
  NetworkTopology network;
  network.kind = choice(table, "kind", kNetworkKinds);
  network.ranks = count(table, "ranks", 2, kMaxRanks);
  read_shape(table, network);
  network.link = giga(table, "link_GBps");
  network.link_latency = nanoseconds(table, "link_ns");
  network.endpoint = nanoseconds(table, "endpoint_ns");
  if (table.number("memory_GBps") != 0) network.memory = giga(table, "memory_GBps");
  if (const auto gap = Fabric::between_ranks(network).unreachable()) {
    table.reject("links", "the network is disconnected: rank {} cannot reach rank {}", gap->first,
                 gap->second);
  }
  return network;
}

}  // namespace

Topology parse_topology(std::string_view text, const std::string& file) {
  const TomlTable root = TomlTable::parse(text, file);
  Topology topology;
  topology.name = root.text("name");
  topology.clock = giga(root.table("clock"), "core_GHz");
  topology.pe = read_pe(root.table("pe"));
  topology.mac = read_mac(root.table("mac"));
  const TomlTable tile = root.table("tile");
  topology.tile = {count(tile, "m"), count(tile, "k"), count(tile, "n"),
                   count(tile, "element_bytes")};
  const TomlTable dma = root.table("dma");
  topology.dma = {count(dma, "queues"), nanoseconds(dma, "setup_ns")};
  topology.hbm = read_hbm(root.table("hbm"));
  topology.noc = read_noc(root.table("noc"), topology.pe);
  topology.network = read_network(root.table("network"));
  root.refuse_unread_keys();

  // What every plan needs at least; larger plans are refused when they are made.
  const auto& t = topology.tile;
  const std::int64_t least =
      (topology.pe.buffer_depth * t.n * t.k + topology.pe.output_buffers * t.m * t.n) *
      t.element_bytes;
  if (topology.pe.sram_bytes < least) {
    root.table("pe").reject("sram_bytes", "too small: the buffers alone take {} bytes, got {}",
                            least, topology.pe.sram_bytes);
  }
  return topology;
}

Topology read_topology(const std::string& path) {
  return parse_topology(read_input_file(path), path);
}

Topology default_topology() { return parse_topology(default_topology_text(), "default.toml"); }

}  // namespace assay::chip
