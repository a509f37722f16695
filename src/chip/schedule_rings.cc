// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Ring, direct, and the two-level algorithms made of them.

#include <numeric>

#include "chip/schedule_builder.h"

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

void build_grid(ScheduleBuilder& builder) {
  const auto& options = builder.options();
  const std::int32_t rows = options.rows, columns = options.columns;
  check(rows * columns == options.ranks, "the grid holds all ranks");
  if (options.collective == Collective::kAllToAll) return grid_all_to_all(builder);

  // Along a row, piece c is what the whole column c will own; along a column, piece r is what its
  // r-th rank will own.
  std::vector<std::vector<std::int32_t>> row_members, column_members;
  std::vector<Ranges> row_pieces(static_cast<std::size_t>(columns));
  for (std::int32_t c = 0; c < columns; ++c) {
    for (std::int32_t r = 0; r < rows; ++r) {
      row_pieces[static_cast<std::size_t>(c)].push_back(builder.part(r * columns + c));
    }
  }
  const auto in_rows = [&](auto pass) {
    for (std::int32_t r = 0; r < rows; ++r) {
      std::vector<std::int32_t> members;
      for (std::int32_t c = 0; c < columns; ++c) members.push_back(r * columns + c);
      pass(members, row_pieces);
    }
  };
  const auto in_columns = [&](auto pass) {
    for (std::int32_t c = 0; c < columns; ++c) {
      std::vector<std::int32_t> members;
      std::vector<Ranges> pieces;
      for (std::int32_t r = 0; r < rows; ++r) {
        members.push_back(r * columns + c);
        pieces.push_back({builder.part(r * columns + c)});
      }
      pass(members, pieces);
    }
  };
  const bool direct_rows = options.algorithm == Algorithm::kHierarchical;
  if (reduces(options.collective)) {
    in_rows([&](const auto& members, const auto& pieces) {
      direct_rows ? builder.direct_reduce_scatter(members, pieces)
                  : builder.ring_reduce_scatter(members, pieces);
    });
    in_columns([&](const auto& members, const auto& pieces) {
      builder.ring_reduce_scatter(members, pieces);
    });
  }
  if (gathers(options.collective)) {
    in_columns(
        [&](const auto& members, const auto& pieces) { builder.ring_all_gather(members, pieces); });
    in_rows([&](const auto& members, const auto& pieces) {
      direct_rows ? builder.direct_all_gather(members, pieces)
                  : builder.ring_all_gather(members, pieces);
    });
  }
}

}  // namespace assay::chip
