// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one description of a chip. Simulator, closed forms, bounds and plots take this object and
// know no other hardware number; examples/chip/default.toml explains every key.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "chip/kernel/time.h"

namespace assay::chip {

// Rows say which engine produced them: raise it when a result may change for the same input.
inline constexpr std::string_view kEngineVersion = "2";

// A fully connected network of that many ranks has a million links; more would describe nothing
// real and exhaust the computer that simulates it.
inline constexpr std::int64_t kMaxRanks = 1 << 10;
inline constexpr std::int64_t kMaxElements = 1 << 12;  // processing elements

enum class MacKind { kRate, kSystolic };
enum class Dataflow { kOutputStationary, kWeightStationary, kInputStationary };
enum class Layout { kTileContiguous, kRowMajor };
enum class BufferRelease { kFetch, kGemm };
enum class NetworkKind { kRing, kFullyConnected, kSwitch, kMesh, kTorus, kFatTree, kCustom };

// A place in the grid of processing elements.
struct GridPoint {
  std::int64_t row = 0, column = 0;
  friend bool operator==(GridPoint, GridPoint) = default;
};

struct PeTopology {
  std::int64_t rows = 1, columns = 1;
  std::int64_t sram_bytes = 0;
  std::int64_t buffer_depth = 1;
  BufferRelease buffer_release = BufferRelease::kGemm;
  std::int64_t output_buffers = 1;
  Rate fetch;  // bytes
};

struct MacTopology {
  MacKind kind = MacKind::kRate;
  Rate rate;  // multiply-accumulates
  std::int64_t array_rows = 1, array_columns = 1;
  Dataflow dataflow = Dataflow::kOutputStationary;
};

struct TileTopology {
  std::int64_t m = 1, k = 1, n = 1;
  std::int64_t element_bytes = 1;
};

struct DmaTopology {
  std::int64_t queues = 1;
  Time setup = 0;
};

struct HbmTopology {
  std::int64_t channels = 1;
  Rate channel;  // bytes
  std::int64_t burst_bytes = 1;
  Time turnaround = 0;
  double refresh_share = 0;
  bool separate_write_path = true;
  Layout layout = Layout::kTileContiguous;

  // How long a channel is busy with one burst: its bytes over its rate, stretched by refresh.
  Time burst_time() const;
};

struct NocTopology {
  Rate link;  // bytes
  Time hop = 0;
  std::vector<GridPoint> memory_ports;
};

struct NetworkTopology {
  NetworkKind kind = NetworkKind::kRing;
  std::int64_t ranks = 0;
  std::int64_t rows = 0, columns = 0;                        // mesh, torus
  std::int64_t leaves = 0, ranks_per_leaf = 0, spines = 0;   // fat_tree
  std::int64_t switches = 0;                                 // custom: nodes that are not ranks
  std::vector<std::pair<std::int64_t, std::int64_t>> links;  // custom: directed, [from, to]
  Rate link;                                                 // bytes
  Time link_latency = 0;
  Time endpoint = 0;
  std::optional<Rate> memory;  // bytes; none: adding takes no time

  // How long a rank adds `bytes` that it received to its own: two reads and one write of memory.
  Time reduce_time(std::int64_t bytes) const;
};

struct Topology {
  std::string name;
  Rate clock;  // cycles
  PeTopology pe;
  MacTopology mac;
  TileTopology tile;
  DmaTopology dma;
  HbmTopology hbm;
  NocTopology noc;
  NetworkTopology network;

  std::int64_t pe_count() const { return pe.rows * pe.columns; }
  // Bytes per second of the whole memory, refresh taken off: what burst_time() leaves of it.
  double hbm_bytes_per_second() const;
  // The most multiply-accumulates per second that one processing element can do: the rate, or one
  // per cell of the systolic array and cycle.
  double peak_macs_per_second() const;

  // Everything above under the names of the file, rates in GB/s, times in ns; what results echo.
  Json to_json() const;
  // Identity of the numbers, whatever the file's spacing, comments and name: 16 hex digits.
  std::string hash() const;
};

// Parses and checks a topology; `file` names it in errors. Throws UserError "FILE:LINE: KEY: …".
Topology parse_topology(std::string_view text, const std::string& file);
// Reads a file. Throws UserError that names the path.
Topology read_topology(const std::string& path);
// The text of examples/chip/default.toml, which the library carries inside.
std::string_view default_topology_text();
Topology default_topology();

// The same chip with another grid of processing elements. Throws UserError naming noc.memory_ports
// if a port lies outside.
Topology with_grid(Topology topology, std::int64_t rows, std::int64_t columns);

// "ring", "switch", "fully_connected", "mesh:4x4", "torus:4x4" or "fat_tree:4x4x2" (leaves, ranks
// per leaf, spines) in place of the network of `base`, whose link numbers stay. `ranks` is needed
// by the first three and must agree with the others if it is not 0. Throws UserError naming the
// text.
NetworkTopology parse_network(std::string_view text, std::int64_t ranks,
                              const NetworkTopology& base);

// The spellings of the file.
std::string_view name_of(MacKind kind);
std::string_view name_of(Dataflow dataflow);
std::string_view name_of(Layout layout);
std::string_view name_of(BufferRelease release);
std::string_view name_of(NetworkKind kind);

}  // namespace assay::chip
