// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cuts a matrix product into tile steps and gives each processing element its list: a pure function
// of shape and topology. A step multiplies one tile of A with one of B and adds to one tile of C;
// the output is written after its last K step. Edge tiles are computed as full ones (padded).

#include <cstdint>
#include <string_view>
#include <vector>

#include "chip/gemm/memory_map.h"
#include "chip/gemm/shape.h"
#include "chip/topology/topology.h"

namespace assay::chip {

// Where operands come from.
enum class Variant {
  kRefRef,    // both streamed from memory, tile by tile
  kLoadRef,   // A loaded up front, B streamed
  kLoadLoad,  // both loaded up front
};

// From the outer to the inner loop over tiles. Orders in which K is not innermost keep several
// output tiles open at once.
enum class LoopOrder { kMnk, kNmk, kMkn, kNkm, kKmn, kKnm };

struct GemmOptions {
  GemmShape shape;
  // Loading A once and streaming B is what a matrix of activations against weights does.
  Variant variant = Variant::kLoadRef;
  // K innermost: one accumulator, and the rows of A are used while they are there.
  LoopOrder order = LoopOrder::kMnk;
  // Every B tile is read once and sent to that many processing elements of a grid column. 1: each
  // reads its own.
  std::int64_t multicast = 1;
  // Echoed in results. The simulation of a matrix product draws no random numbers.
  std::uint64_t seed = 0;
};

struct TileStep {
  std::int32_t i = 0, j = 0, k = 0;  // tile of A: (i, k); of B: (k, j); of C: (i, j)
  std::int32_t round = -1;           // multicast of its B tile; -1: B is its own or resident
  bool first_k = false, last_k = false;
};

// A panel of tiles along K that is loaded before the first step.
struct PanelLoad {
  bool of_b = false;
  std::int32_t index = 0;  // i of A, j of B
  std::int32_t round = -1;
};

struct PePlan {
  std::vector<PanelLoad> loads;
  std::vector<TileStep> steps;
  std::int64_t open_outputs = 1;  // output tiles in accumulation at once
  std::int64_t sram_bytes = 0;    // panels, operand buffers and output buffers
};

// B tiles (or panels) that several processing elements receive from one read.
struct MulticastRound {
  std::vector<std::int32_t> members;  // in increasing order; the first one reads
};

struct GemmPlan {
  GemmOptions options;
  std::int64_t m_tiles = 0, k_tiles = 0, n_tiles = 0;
  MemoryMap memory;
  std::vector<PePlan> pes;
  std::vector<MulticastRound> rounds;

  // Totals over the chip; bytes are whole bursts, a multicast counts once.
  std::int64_t load_bytes = 0;    // up front
  std::int64_t stream_bytes = 0;  // per step
  std::int64_t write_bytes = 0;
  std::int64_t macs = 0;         // padded
  std::int64_t useful_macs = 0;  // M N K

  std::int64_t tiles() const { return m_tiles * k_tiles * n_tiles; }
  // 0 … tiles()-1, unique over the chip.
  std::int64_t tile_index(const TileStep& s) const { return (s.i * n_tiles + s.j) * k_tiles + s.k; }
};

// Multiply-accumulates of a step that are not padding.
std::int64_t useful_macs(const GemmPlan& plan, const TileStep& step, const TileTopology& tile);

// Output tile (i, j) goes to the processing element at grid row i mod rows, column j mod columns.
// Throws UserError naming pe.sram_bytes when a processing element's memory does not hold its plan,
// and for a multicast wider than the grid has rows.
GemmPlan plan_gemm(const GemmOptions& options, const Topology& topology);

std::string_view name_of(Variant variant);
std::string_view name_of(LoopOrder order);
// From "ref_ref", "mnk". Throw UserError naming the text.
Variant parse_variant(std::string_view text);
LoopOrder parse_loop_order(std::string_view text);

}  // namespace assay::chip
