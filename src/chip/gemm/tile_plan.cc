// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/tile_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/names.h"
#include "chip/kernel/whole_parts.h"

namespace assay::chip {
namespace {

constexpr std::int64_t kMaxTiles = 1 << 21;  // the log of two million tiles takes half a gigabyte

constexpr std::int64_t kMaxBursts = 1 << 28;  // minutes of simulation

// Indices start, start + step, … below end.
std::vector<std::int32_t> every(std::int64_t start, std::int64_t step, std::int64_t end) {
  std::vector<std::int32_t> out;
  for (; start < end; start += step) out.push_back(static_cast<std::int32_t>(start));
  return out;
}

// Which of the three nested loops runs over `dimension`: 0 is the outermost.
std::size_t depth_of(LoopOrder order, char dimension) {
  const std::string_view loops = name_of(order);
  return loops[0] == dimension ? 0 : loops[1] == dimension ? 1 : 2;
}

// Visits (pass, i, j, k) in the given order; pass is the position of i in `rows`.
template <typename Visit>
void for_each_step(LoopOrder order, const std::vector<std::int32_t>& rows,
                   const std::vector<std::int32_t>& columns, std::int64_t k_tiles, Visit visit) {
  const std::size_t m = depth_of(order, 'm'), n = depth_of(order, 'n'), k = depth_of(order, 'k');
  std::array<std::size_t, 3> size{}, at{};
  size[m] = rows.size();
  size[n] = columns.size();
  size[k] = static_cast<std::size_t>(k_tiles);
  for (at[0] = 0; at[0] < size[0]; ++at[0]) {
    for (at[1] = 0; at[1] < size[1]; ++at[1]) {
      for (at[2] = 0; at[2] < size[2]; ++at[2]) {
        visit(at[m], rows[at[m]], columns[at[n]], static_cast<std::int32_t>(at[k]));
      }
    }
  }
}

// How many output tiles are open at once: the product of the loops inside the K loop.
std::int64_t open_outputs(LoopOrder order, std::size_t rows, std::size_t columns) {
  const std::size_t k = depth_of(order, 'k');
  return static_cast<std::int64_t>((depth_of(order, 'm') > k ? rows : 1) *
                                   (depth_of(order, 'n') > k ? columns : 1));
}

class Planner {
 public:
  Planner(const GemmOptions& options, const Topology& topology)
      : options_(options),
        topology_(topology),
        plan_{options, 0, 0, 0, MemoryMap(options.shape, topology), {}, {}, 0, 0, 0, 0, 0} {}

  GemmPlan run() {
    const auto& [m, k, n] = options_.shape;
    check(m > 0 && k > 0 && n > 0, "a matrix product has positive dimensions");
    plan_.m_tiles = ceil_div(m, topology_.tile.m);
    plan_.k_tiles = ceil_div(k, topology_.tile.k);
    plan_.n_tiles = ceil_div(n, topology_.tile.n);
    if (plan_.m_tiles * plan_.n_tiles > kMaxTiles || plan_.tiles() > kMaxTiles) {
      fail("more than {} tiles: {}", kMaxTiles, to_string(options_.shape));
    }
    const auto rows = topology_.pe.rows;
    if (options_.multicast < 1 || options_.multicast > rows) {
      fail("multicast must be between 1 and the {} grid rows (pe.rows), got {}", rows,
           options_.multicast);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < topology_.pe.columns; ++c) plan_pe(r, c);
    }
    count_bytes();
    const std::int64_t bursts =
        (plan_.load_bytes + plan_.stream_bytes + plan_.write_bytes) / topology_.hbm.burst_bytes;
    if (bursts > kMaxBursts) {
      fail("hbm.burst_bytes: {} makes {} bursts, more than {}", topology_.hbm.burst_bytes, bursts,
           kMaxBursts);
    }
    return std::move(plan_);
  }

 private:
  bool streams_a() const { return options_.variant == Variant::kRefRef; }
  bool streams_b() const { return options_.variant != Variant::kLoadLoad; }

  // The round in which processing element `pe` shares the B tile that `key` tells apart, or -1.
  template <typename Rounds, typename Key>
  std::int32_t join(Rounds& rounds, const Key& key, std::int32_t pe) {
    if (options_.multicast == 1) return -1;
    const auto [it, fresh] =
        rounds.try_emplace(key, static_cast<std::int32_t>(plan_.rounds.size()));
    if (fresh) plan_.rounds.emplace_back();
    plan_.rounds[static_cast<std::size_t>(it->second)].members.push_back(pe);
    return it->second;
  }

  void plan_pe(std::int64_t grid_row, std::int64_t grid_column) {
    const auto rows = every(grid_row, topology_.pe.rows, plan_.m_tiles);
    const auto columns = every(grid_column, topology_.pe.columns, plan_.n_tiles);
    const auto id = static_cast<std::int32_t>(plan_.pes.size());
    // Groups of neighbours in a grid column have the same columns of B; passes over rows of A are
    // matched by their number, and a member with fewer rows is absent from the last pass.
    const std::int64_t group = grid_row / options_.multicast * topology_.pe.columns + grid_column;
    PePlan pe;
    if (!rows.empty() && !columns.empty()) {
      if (!streams_a()) {
        for (const auto i : rows) pe.loads.push_back({false, i, -1});
      }
      if (!streams_b()) {
        for (const auto j : columns) {
          pe.loads.push_back({true, j, join(panel_rounds_, std::tuple(group, j), id)});
        }
      }
      for_each_step(options_.order, rows, columns, plan_.k_tiles,
                    [&](std::size_t pass, std::int32_t i, std::int32_t j, std::int32_t k) {
                      TileStep step{i, j, k, -1, k == 0, k + 1 == plan_.k_tiles};
                      if (streams_b()) {
                        step.round = join(tile_rounds_, std::tuple(group, pass, j, k), id);
                      }
                      pe.steps.push_back(step);
                    });
      pe.open_outputs = open_outputs(options_.order, rows.size(), columns.size());
      pe.sram_bytes = sram_need(pe, rows.size(), columns.size());
      if (pe.sram_bytes > topology_.pe.sram_bytes) {
        fail("pe.sram_bytes: {} of {} needs {} bytes in processing element {}, the chip has {}",
             name_of(options_.variant), to_string(options_.shape), pe.sram_bytes, id,
             topology_.pe.sram_bytes);
      }
    }
    plan_.pes.push_back(std::move(pe));
  }

  std::int64_t sram_need(const PePlan& pe, std::size_t rows, std::size_t columns) const {
    const auto& tile = topology_.tile;
    const std::int64_t a = tile.m * tile.k * tile.element_bytes;
    const std::int64_t b = tile.k * tile.n * tile.element_bytes;
    const std::int64_t c = tile.m * tile.n * tile.element_bytes;
    const auto resident_a = static_cast<std::int64_t>(rows) * plan_.k_tiles * a;
    const auto resident_b = static_cast<std::int64_t>(columns) * plan_.k_tiles * b;
    const std::int64_t depth = topology_.pe.buffer_depth;
    // More output buffers than output tiles hold nothing.
    const auto outputs = static_cast<std::int64_t>(rows * columns);
    const std::int64_t output_buffers =
        std::min(outputs, std::max(topology_.pe.output_buffers, pe.open_outputs));
    return (streams_a() ? depth * a : resident_a) + (streams_b() ? depth * b : resident_b) +
           output_buffers * c;
  }

  void count_bytes() {
    const std::int64_t burst = topology_.hbm.burst_bytes;
    const auto& map = plan_.memory;
    const auto& tile = topology_.tile;
    const auto reads_b = [&](std::int32_t round, std::int32_t pe) {
      return round < 0 || plan_.rounds[static_cast<std::size_t>(round)].members[0] == pe;
    };
    for (std::int32_t id = 0; const auto& pe : plan_.pes) {
      for (const auto& load : pe.loads) {
        if (load.of_b && !reads_b(load.round, id)) continue;
        const Block panel = load.of_b ? map.b_panel(load.index) : map.a_panel(load.index);
        plan_.load_bytes += burst_count(panel, burst) * burst;
      }
      for (const auto& s : pe.steps) {
        if (streams_a()) plan_.stream_bytes += burst_count(map.a_tile(s.i, s.k), burst) * burst;
        if (streams_b() && reads_b(s.round, id)) {
          plan_.stream_bytes += burst_count(map.b_tile(s.k, s.j), burst) * burst;
        }
        if (s.last_k) plan_.write_bytes += burst_count(map.c_tile(s.i, s.j), burst) * burst;
        plan_.macs += tile.m * tile.k * tile.n;
        plan_.useful_macs += useful_macs(plan_, s, tile);
      }
      ++id;
    }
  }

  const GemmOptions& options_;
  const Topology& topology_;
  GemmPlan plan_;
  std::map<std::tuple<std::int64_t, std::size_t, std::int32_t, std::int32_t>, std::int32_t>
      tile_rounds_;
  std::map<std::tuple<std::int64_t, std::int32_t>, std::int32_t> panel_rounds_;
};

}  // namespace

constexpr auto kVariantNames = make_names<Variant>({{Variant::kRefRef, "ref_ref"},
                                                    {Variant::kLoadRef, "load_ref"},
                                                    {Variant::kLoadLoad, "load_load"}});

std::string_view name_of(Variant variant) { return kVariantNames[variant]; }

constexpr auto kLoopOrderNames = make_names<LoopOrder>({{LoopOrder::kMnk, "mnk"},
                                                        {LoopOrder::kNmk, "nmk"},
                                                        {LoopOrder::kMkn, "mkn"},
                                                        {LoopOrder::kNkm, "nkm"},
                                                        {LoopOrder::kKmn, "kmn"},
                                                        {LoopOrder::kKnm, "knm"}});

std::string_view name_of(LoopOrder order) { return kLoopOrderNames[order]; }

Variant parse_variant(std::string_view text) {
  if (const auto variant = kVariantNames.find(text)) return *variant;
  fail("expected a variant ref_ref, load_ref or load_load, got '{}'", text);
}

LoopOrder parse_loop_order(std::string_view text) {
  if (const auto order = kLoopOrderNames.find(text)) return *order;
  fail("expected a loop order such as mnk or nmk, got '{}'", text);
}

std::int64_t useful_macs(const GemmPlan& plan, const TileStep& step, const TileTopology& tile) {
  const auto& shape = plan.options.shape;
  return std::min(tile.m, shape.m - step.i * tile.m) * std::min(tile.k, shape.k - step.k * tile.k) *
         std::min(tile.n, shape.n - step.j * tile.n);
}

GemmPlan plan_gemm(const GemmOptions& options, const Topology& topology) {
  return Planner(options, topology).run();
}

}  // namespace assay::chip
