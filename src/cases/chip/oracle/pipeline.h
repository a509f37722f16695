// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tile pipeline of one processing element as a max-plus recurrence: each engine starts a step
// when the step is there, the engine is free and the buffer is. No events, no formulas.

#include <cstdint>
#include <string_view>

#include "cases/chip/oracle/chip_numbers.h"

namespace assay::cases::chip {

// A matrix product cut into tiles. `variant`: "ref_ref", "load_ref" or "load_load".
struct TiledProduct {
  std::int64_t m = 1, k = 1, n = 1;
  bool streams_a = true, streams_b = true;

  TiledProduct(std::int64_t rows, std::int64_t inner, std::int64_t columns,
               std::string_view variant);
  std::int64_t m_tiles(const ChipNumbers& c) const { return (m + c.m - 1) / c.m; }
  std::int64_t k_tiles(const ChipNumbers& c) const { return (k + c.k - 1) / c.k; }
  std::int64_t n_tiles(const ChipNumbers& c) const { return (n + c.n - 1) / c.n; }
  // Output tiles of the element at that place of the grid, as rows × columns of tiles.
  std::int64_t rows_of(const ChipNumbers& c, std::int64_t grid_row) const;
  std::int64_t columns_of(const ChipNumbers& c, std::int64_t grid_column) const;

  // Of the whole chip, in whole tiles.
  std::int64_t load_bytes(const ChipNumbers& c) const;
  std::int64_t stream_bytes(const ChipNumbers& c) const;
  std::int64_t write_bytes(const ChipNumbers& c) const;
  std::int64_t padded_macs(const ChipNumbers& c) const;
  double useful_macs() const;
};

// `steps` tile steps, an output after every `k_steps`, nothing else on the chip: from the first
// request to the last byte written.
Ps pipeline_time(const ChipNumbers& c, std::int64_t steps, std::int64_t k_steps, Ps t_in);

struct ProductTime {
  Ps load = 0;    // of the operands that are there before the first step
  Ps window = 0;  // from the first step on
};
// Exact where the chip is ideal and has one element; with more, a time that leaves out how they
// wait for one another.
ProductTime product_time(const ChipNumbers& c, const TiledProduct& p);

// max(multiply-accumulates over the peak, bytes over the memory's rate), loads included.
double roofline_seconds(const ChipNumbers& c, const TiledProduct& p);

// Cycles of an output-stationary array over the clock: fold by fold.
Ps systolic_time(const ChipNumbers& c, const TiledProduct& p);

}  // namespace assay::cases::chip
