// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Ring, direct, and the two-level algorithms made of them.

#include <algorithm>
#include <numeric>

#include "chip/collective/schedule_builder.h"

namespace assay::chip {
namespace {

bool reduces(Collective c) {
  return c == Collective::kAllReduce || c == Collective::kReduceScatter;
}
bool gathers(Collective c) { return c == Collective::kAllReduce || c == Collective::kAllGather; }

std::vector<std::int32_t> everyone(const ScheduleBuilder& builder) {
  std::vector<std::int32_t> members(static_cast<std::size_t>(builder.ranks()));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

std::vector<Ranges> own_parts(const ScheduleBuilder& builder) {
  std::vector<Ranges> pieces;
  for (std::int32_t r = 0; r < builder.ranks(); ++r) pieces.push_back({builder.part(r)});
  return pieces;
}

// Everything moves to the next rank and what has arrived drops out. In phase j a rank passes on the
// blocks of the rank j - 1 before it, for the p - j ranks after itself.
void ring_all_to_all(ScheduleBuilder& builder) {
  const std::int32_t p = builder.ranks();
  for (std::int32_t r = 0; r < p; ++r) {
    const std::int32_t next = (r + 1) % p, previous = (r + p - 1) % p;
    for (std::int32_t phase = 1; phase < p; ++phase) {
      const std::int32_t source = (r + p - phase + 1) % p, source_before = (r + p - phase) % p;
      Ranges out, in;
      for (std::int32_t i = 0; i < p - phase; ++i) {
        out.push_back(builder.block(source, (r + 1 + i) % p));
        in.push_back(builder.block(source_before, (r + i) % p));
      }
      if (!builder.options().as_astra) {
        StagePlan& here = builder.stage(r);
        here.sends.push_back(builder.transfer(next, out));
        here.receives.push_back(builder.transfer(previous, in));
        continue;
      }
      for (std::size_t i = 0; i < out.size(); ++i) {
        StagePlan& here = builder.stage(r);
        here.sends.push_back(builder.transfer(next, {out[i]}));
        here.receives.push_back(builder.transfer(previous, {in[i]}));
      }
    }
  }
}

// First inside the rows, to the column of the destination, then inside the columns.
void grid_all_to_all(ScheduleBuilder& builder) {
  const std::int32_t rows = builder.options().rows, columns = builder.options().columns;
  const auto rank = [&](std::int32_t row, std::int32_t column) { return row * columns + column; };
  const auto to_column = [&](std::int32_t source, std::int32_t column) {
    Ranges blocks;
    for (std::int32_t row = 0; row < rows; ++row) {
      blocks.push_back(builder.block(source, rank(row, column)));
    }
    return blocks;
  };
  const auto from_row = [&](std::int32_t row, std::int32_t destination) {
    Ranges blocks;
    for (std::int32_t column = 0; column < columns; ++column) {
      blocks.push_back(builder.block(rank(row, column), destination));
    }
    return blocks;
  };
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t column = 0; column < columns; ++column) {
      const std::int32_t me = rank(row, column);
      if (columns > 1) {
        StagePlan& here = builder.stage(me);
        for (std::int32_t d = 1; d < columns; ++d) {
          const std::int32_t to = (column + d) % columns, from = (column + columns - d) % columns;
          here.sends.push_back(builder.transfer(rank(row, to), to_column(me, to)));
          here.receives.push_back(
              builder.transfer(rank(row, from), to_column(rank(row, from), column)));
        }
      }
      if (rows > 1) {
        StagePlan& here = builder.stage(me);
        for (std::int32_t d = 1; d < rows; ++d) {
          const std::int32_t to = (row + d) % rows, from = (row + rows - d) % rows;
          here.sends.push_back(builder.transfer(rank(to, column), from_row(row, rank(to, column))));
          here.receives.push_back(builder.transfer(rank(from, column), from_row(from, me)));
        }
      }
    }
  }
}

// Part `index` of `parts` of a range.
Range share(Range range, std::int64_t parts, std::int64_t index) {
  const Range part = even_part(range.size(), parts, index);
  return {range.begin + part.begin, range.begin + part.end};
}

// How a grid is gone through: which lines come first, in which direction, and with which quarter of
// every part (-1: with all of it).
struct GridLane {
  bool along_rows_first, down;
  int quarter;
};

void grid_lane(ScheduleBuilder& builder, const GridLane& lane) {
  const auto& options = builder.options();
  const bool rows_first = lane.along_rows_first;
  // A line of the first kind has `length` ranks and there are `lines` of them.
  const std::int32_t length = rows_first ? options.columns : options.rows;
  const std::int32_t lines = rows_first ? options.rows : options.columns;
  const auto rank = [&](std::int32_t line, std::int32_t at) {
    return rows_first ? line * options.columns + at : at * options.columns + line;
  };
  const auto part = [&](std::int32_t of) {
    return lane.quarter < 0 ? builder.part(of) : share(builder.part(of), 4, lane.quarter);
  };
  const auto pass_over = [&](std::vector<std::int32_t> members, std::vector<Ranges> pieces,
                             auto pass) {
    if (lane.down) {
      std::ranges::reverse(members);
      std::ranges::reverse(pieces);
    }
    pass(members, pieces);
  };
  // Along a first line, the piece at a place is what all ranks at that place of any line will own;
  // across, it is what one rank will own.
  const auto along = [&](auto pass) {
    std::vector<Ranges> pieces(static_cast<std::size_t>(length));
    for (std::int32_t at = 0; at < length; ++at) {
      for (std::int32_t line = 0; line < lines; ++line) {
        pieces[static_cast<std::size_t>(at)].push_back(part(rank(line, at)));
      }
    }
    for (std::int32_t line = 0; line < lines; ++line) {
      std::vector<std::int32_t> members;
      for (std::int32_t at = 0; at < length; ++at) members.push_back(rank(line, at));
      pass_over(members, pieces, pass);
    }
  };
  const auto across = [&](auto pass) {
    for (std::int32_t at = 0; at < length; ++at) {
      std::vector<std::int32_t> members;
      std::vector<Ranges> pieces;
      for (std::int32_t line = 0; line < lines; ++line) {
        members.push_back(rank(line, at));
        pieces.push_back({part(rank(line, at))});
      }
      pass_over(members, pieces, pass);
    }
  };
  const bool is_direct = options.algorithm == Algorithm::kHierarchical;
  if (reduces(options.collective)) {
    along([&](const auto& members, const auto& pieces) {
      is_direct ? builder.direct_reduce_scatter(members, pieces)
                : builder.ring_reduce_scatter(members, pieces);
    });
    across([&](const auto& members, const auto& pieces) {
      builder.ring_reduce_scatter(members, pieces);
    });
  }
  if (gathers(options.collective)) {
    across(
        [&](const auto& members, const auto& pieces) { builder.ring_all_gather(members, pieces); });
    along([&](const auto& members, const auto& pieces) {
      is_direct ? builder.direct_all_gather(members, pieces)
                : builder.ring_all_gather(members, pieces);
    });
  }
}

}  // namespace

void build_ring(ScheduleBuilder& builder) {
  const Collective collective = builder.options().collective;
  if (collective == Collective::kAllToAll) return ring_all_to_all(builder);
  const auto members = everyone(builder);
  const auto pieces = own_parts(builder);
  if (reduces(collective)) builder.ring_reduce_scatter(members, pieces);
  if (gathers(collective)) builder.ring_all_gather(members, pieces);
}

void build_direct(ScheduleBuilder& builder) {
  const Collective collective = builder.options().collective;
  const auto members = everyone(builder);
  if (collective == Collective::kAllToAll) {
    const std::int32_t p = builder.ranks();
    for (std::int32_t r = 0; r < p; ++r) {
      StagePlan& here = builder.stage(r);
      for (std::int32_t d = 1; d < p; ++d) {
        const std::int32_t to = (r + d) % p, from = (r + p - d) % p;
        here.sends.push_back(builder.transfer(to, {builder.block(r, to)}));
        here.receives.push_back(builder.transfer(from, {builder.block(from, r)}));
      }
    }
    return;
  }
  const auto pieces = own_parts(builder);
  if (reduces(collective)) builder.direct_reduce_scatter(members, pieces);
  if (gathers(collective)) builder.direct_all_gather(members, pieces);
}

void build_bidirectional_ring(ScheduleBuilder& builder) {
  const Collective collective = builder.options().collective;
  // One half of each part goes up, the other down; each pair of neighbours is used both ways.
  for (const bool down : {false, true}) {
    if (down) builder.open_lane();
    auto members = everyone(builder);
    std::vector<Ranges> pieces;
    for (const auto rank : members) pieces.push_back({share(builder.part(rank), 2, down ? 1 : 0)});
    if (down) {
      std::ranges::reverse(members);
      std::ranges::reverse(pieces);
    }
    if (reduces(collective)) builder.ring_reduce_scatter(members, pieces);
    if (gathers(collective)) builder.ring_all_gather(members, pieces);
  }
}

void build_grid(ScheduleBuilder& builder) {
  const auto& options = builder.options();
  check(options.rows * options.columns == options.ranks, "the grid holds all ranks");
  if (options.collective == Collective::kAllToAll) return grid_all_to_all(builder);
  if (options.algorithm != Algorithm::kBidirectionalTorus) {
    return grid_lane(builder, {.along_rows_first = true, .down = false, .quarter = -1});
  }
  // While two quarters go both ways along the rows, the others do so along the columns.
  for (int quarter = 0; quarter < 4; ++quarter) {
    if (quarter > 0) builder.open_lane();
    grid_lane(builder,
              {.along_rows_first = quarter < 2, .down = quarter % 2 == 1, .quarter = quarter});
  }
}

}  // namespace assay::chip
