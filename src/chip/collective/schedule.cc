// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective/schedule.h"

#include "base/error.h"
#include "base/names.h"
#include "chip/collective/schedule_builder.h"

namespace assay::chip {
namespace {

constexpr auto kCollectives =
    make_names<Collective>({{Collective::kAllReduce, "all_reduce"},
                            {Collective::kReduceScatter, "reduce_scatter"},
                            {Collective::kAllGather, "all_gather"},
                            {Collective::kAllToAll, "all_to_all"}});

constexpr auto kAlgorithms =
    make_names<Algorithm>({{Algorithm::kRing, "ring"},
                           {Algorithm::kRecursiveDoubling, "recursive_doubling"},
                           {Algorithm::kHalvingDoubling, "halving_doubling"},
                           {Algorithm::kDoubleBinaryTree, "double_binary_tree"},
                           {Algorithm::kDirect, "direct"},
                           {Algorithm::kTorus2d, "torus_2d"},
                           {Algorithm::kHierarchical, "hierarchical"},
                           {Algorithm::kBidirectionalRing, "bidirectional_ring"},
                           {Algorithm::kBidirectionalTorus, "bidirectional_torus"}});

}  // namespace

std::string_view name_of(Collective collective) { return kCollectives[collective]; }

std::string_view name_of(Algorithm algorithm) { return kAlgorithms[algorithm]; }

Collective parse_collective(std::string_view text) {
  if (const auto collective = kCollectives.find(text)) return *collective;
  fail("expected a collective ({}), got '{}'", kCollectives.list(), text);
}

Algorithm parse_algorithm(std::string_view text) {
  if (const auto algorithm = kAlgorithms.find(text)) return *algorithm;
  fail("expected an algorithm ({}), got '{}'", kAlgorithms.list(), text);
}

bool defined_for(Algorithm algorithm, Collective collective) {
  if (algorithm == Algorithm::kDoubleBinaryTree) return collective == Collective::kAllReduce;
  const bool is_two_way =
      algorithm == Algorithm::kBidirectionalRing || algorithm == Algorithm::kBidirectionalTorus;
  if (algorithm == Algorithm::kHalvingDoubling || is_two_way) {
    return collective != Collective::kAllToAll;
  }
  return true;
}

Range even_part(std::int64_t length, std::int64_t parts, std::int64_t index) {
  // floor(length * i / parts), without the product.
  const auto cut = [&](std::int64_t i) { return length / parts * i + length % parts * i / parts; };
  return {cut(index), cut(index + 1)};
}

std::int64_t Schedule::elements_of(const Transfer& t) const {
  std::int64_t elements = 0;
  for (const Range range : ranges_of(t)) elements += range.size();
  return elements;
}

std::int64_t Schedule::messages() const {
  std::int64_t count = 0;
  for (const Program& program : programs) {
    for (const StagePlan& stage : program.stages) {
      count += static_cast<std::int64_t>(stage.sends.size());
    }
  }
  return count;
}

std::vector<Range> Schedule::owned_before(std::int32_t rank) const {
  switch (collective) {
    case Collective::kAllReduce:
    case Collective::kReduceScatter:
      return {{0, length}};
    case Collective::kAllGather:
      return {even_part(length, ranks, rank)};
    case Collective::kAllToAll:
      return {{rank * length, (rank + 1) * length}};
  }
  return {};
}

std::vector<Range> Schedule::owned_after(std::int32_t rank) const {
  switch (collective) {
    case Collective::kAllReduce:
    case Collective::kAllGather:
      return {{0, length}};
    case Collective::kReduceScatter:
      return {even_part(length, ranks, rank)};
    case Collective::kAllToAll: {
      std::vector<Range> blocks;
      const Range mine = even_part(length, ranks, rank);
      for (std::int64_t s = 0; s < ranks; ++s) {
        blocks.push_back({s * length + mine.begin, s * length + mine.end});
      }
      return blocks;
    }
  }
  return {};
}

Schedule build_schedule(const ScheduleOptions& options) {
  if (!defined_for(options.algorithm, options.collective)) {
    fail("the algorithm {} is not defined for {}", name_of(options.algorithm),
         name_of(options.collective));
  }
  check(options.ranks >= 2 && options.length >= 0, "a collective has ranks and a vector");
  ScheduleBuilder builder(options);
  switch (options.algorithm) {
    case Algorithm::kRing:
      build_ring(builder);
      break;
    case Algorithm::kRecursiveDoubling:
      build_recursive_doubling(builder);
      break;
    case Algorithm::kHalvingDoubling:
      build_halving_doubling(builder);
      break;
    case Algorithm::kDoubleBinaryTree:
      build_double_binary_tree(builder);
      break;
    case Algorithm::kDirect:
      build_direct(builder);
      break;
    case Algorithm::kBidirectionalRing:
      build_bidirectional_ring(builder);
      break;
    case Algorithm::kTorus2d:
    case Algorithm::kHierarchical:
    case Algorithm::kBidirectionalTorus:
      build_grid(builder);
      break;
  }
  return builder.take();
}

}  // namespace assay::chip
