// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who sends what to whom, in which order: a collective as data, before any time passes.
//
// A program is a sequence of stages on one rank. In a stage all sends are posted, then all receives
// are awaited; the next stage starts when they are done. Programs of a rank run side by side (the
// two directions of a pipelined tree). The k-th send from a to b on a channel matches the k-th
// receive at b from a on that channel.
//
// Elements are named in one space for all ranks. For sums and gathers it is the vector 0 …
// extent-1, of which rank r owns part r of the even split. For all-to-all it is the concatenation
// of all ranks' inputs: block (s, d) is what s has for d.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chip/topology/topology.h"

namespace assay::chip {

enum class Collective { kAllReduce, kReduceScatter, kAllGather, kAllToAll };
enum class Algorithm {
  kRing,
  kRecursiveDoubling,
  kHalvingDoubling,
  kDoubleBinaryTree,
  kDirect,
  kTorus2d,
  kHierarchical,
  kBidirectionalRing,
  kBidirectionalTorus,
};

// "all_reduce", "halving_doubling", …; the parsers throw UserError naming the text.
std::string_view name_of(Collective collective);
std::string_view name_of(Algorithm algorithm);
Collective parse_collective(std::string_view text);
Algorithm parse_algorithm(std::string_view text);
// Whether the algorithm is defined for the collective: double_binary_tree sums only,
// halving_doubling has nothing to halve in an all-to-all, and the two-way algorithms pass on what
// all ranks want.
bool defined_for(Algorithm algorithm, Collective collective);

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  friend bool operator==(Range, Range) = default;
};

struct Transfer {
  std::int32_t peer = 0;
  std::int32_t channel = 0;
  std::int32_t first_range = 0, ranges = 0;  // in Schedule::ranges
  bool adds = false;                         // a receive that is added to what is there
};

struct StagePlan {
  std::vector<Transfer> sends, receives;
};

struct Program {
  std::int32_t rank = 0;
  // A stage also waits until its sends have left the rank: keeps a pipeline from flooding its link.
  bool paced = false;
  std::vector<StagePlan> stages;
};

struct Schedule {
  Collective collective = Collective::kAllReduce;
  std::int32_t ranks = 0;
  std::int64_t length = 0;  // elements of the vector; for all-to-all of each rank's input
  std::int64_t extent = 0;  // elements of the common space
  std::vector<Range> ranges;
  std::vector<Program> programs;

  std::span<const Range> ranges_of(const Transfer& t) const {
    return {ranges.data() + t.first_range, static_cast<std::size_t>(t.ranges)};
  }
  std::int64_t elements_of(const Transfer& t) const;
  std::int64_t messages() const;  // sends of all programs

  // What rank r has before and must have after, in increasing order.
  std::vector<Range> owned_before(std::int32_t rank) const;
  std::vector<Range> owned_after(std::int32_t rank) const;
};

struct ScheduleOptions {
  Collective collective = Collective::kAllReduce;
  Algorithm algorithm = Algorithm::kRing;
  std::int32_t ranks = 2;
  std::int64_t length = 0;  // elements: all-gather's total, otherwise each rank's input
  // Sides of the grid of the torus algorithms and hierarchical: rank = row * columns + column.
  // Their product is the number of ranks. Hierarchical exchanges inside a row directly and by rings
  // across rows.
  std::int32_t rows = 1, columns = 1;
  // Segments per tree of double_binary_tree.
  std::int64_t segments = 1;
  // The second tree shares no edge with the first, where that is possible (p = 4 has too few): for
  // networks that have a link for every pair. If not, it is the first one's mirror image, whose
  // edges are as short.
  bool disjoint_trees = false;
  // As ASTRA-sim does it: one tree with the whole vector at once (the lower or the upper root by
  // turns), and all-to-all on a ring block by block.
  bool as_astra = false;
  bool upper_tree = true;
};

// Throws UserError if the algorithm is not defined for the collective.
Schedule build_schedule(const ScheduleOptions& options);

// Part `index` of `parts` even parts of [0, length): sizes differ by at most one.
Range even_part(std::int64_t length, std::int64_t parts, std::int64_t index);

}  // namespace assay::chip
