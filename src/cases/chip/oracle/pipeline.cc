// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/oracle/pipeline.h"

#include <algorithm>
#include <vector>

namespace assay::cases::chip {

TiledProduct::TiledProduct(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                           std::string_view variant)
    : m(rows),
      k(inner),
      n(columns),
      streams_a(variant == "ref_ref"),
      streams_b(variant != "load_load") {}

namespace {

// How many of the tiles first, first + step, … there are.
std::int64_t every(std::int64_t tiles, std::int64_t first, std::int64_t step) {
  return tiles > first ? (tiles - first - 1) / step + 1 : 0;
}

}  // namespace

std::int64_t TiledProduct::rows_of(const ChipNumbers& c, std::int64_t grid_row) const {
  return every(m_tiles(c), grid_row, c.rows);
}
std::int64_t TiledProduct::columns_of(const ChipNumbers& c, std::int64_t grid_column) const {
  return every(n_tiles(c), grid_column, c.columns);
}

std::int64_t TiledProduct::load_bytes(const ChipNumbers& c) const {
  std::int64_t bytes = 0;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    for (std::int64_t q = 0; q < c.columns; ++q) {
      const std::int64_t height = rows_of(c, r), width = columns_of(c, q);
      if (height == 0 || width == 0) continue;
      if (!streams_a) bytes += height * k_tiles(c) * c.a_bytes();
      if (!streams_b) bytes += width * k_tiles(c) * c.b_bytes();
    }
  }
  return bytes;
}

std::int64_t TiledProduct::stream_bytes(const ChipNumbers& c) const {
  const std::int64_t steps = m_tiles(c) * n_tiles(c) * k_tiles(c);
  return steps * ((streams_a ? c.a_bytes() : 0) + (streams_b ? c.b_bytes() : 0));
}

std::int64_t TiledProduct::write_bytes(const ChipNumbers& c) const {
  return m_tiles(c) * n_tiles(c) * c.c_bytes();
}

std::int64_t TiledProduct::padded_macs(const ChipNumbers& c) const {
  return m_tiles(c) * n_tiles(c) * k_tiles(c) * c.m * c.k * c.n;
}

double TiledProduct::useful_macs() const {
  return static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
}

Ps pipeline_time(const ChipNumbers& c, std::int64_t steps, std::int64_t k_steps, Ps t_in) {
  const auto at = [](const std::vector<Ps>& times, std::int64_t i) {
    return i < 0 ? 0 : times[static_cast<std::size_t>(i)];
  };
  const Ps t_out = c.memory(c.c_bytes());
  std::vector<Ps> in, fetched, multiplied, freed, written;
  for (std::int64_t s = 0; s < steps; ++s) {
    Ps ready = at(freed, s - c.buffers);  // a buffer
    if (t_in > 0) {
      // A queue slot; then memory, which serves one request after another.
      ready = std::max({ready, at(in, s - c.queues), at(in, s - 1)}) + t_in;
      in.push_back(ready);
    }
    fetched.push_back(std::max(ready, at(fetched, s - 1)) + c.fetch);
    Ps start = std::max(fetched.back(), at(multiplied, s - 1));
    const std::int64_t output = s / k_steps;
    if (s % k_steps == 0) start = std::max(start, at(written, output - c.outputs));
    multiplied.push_back(start + c.gemm);
    freed.push_back(c.held_through_gemm ? multiplied.back() : fetched.back());
    if ((s + 1) % k_steps == 0) {
      written.push_back(std::max(multiplied.back(), at(written, output - 1)) + t_out);
    }
  }
  return written.back();
}

ProductTime product_time(const ChipNumbers& c, const TiledProduct& p) {
  const std::int64_t streamed = (p.streams_a ? c.a_bytes() : 0) + (p.streams_b ? c.b_bytes() : 0);
  const std::int64_t steps = p.rows_of(c, 0) * p.columns_of(c, 0) * p.k_tiles(c);
  ProductTime time;
  time.load = c.memory(p.load_bytes(c));
  time.window = std::max({pipeline_time(c, steps, p.k_tiles(c), c.memory(streamed)),
                          c.memory(p.stream_bytes(c)), c.memory(p.write_bytes(c))});
  return time;
}

double roofline_seconds(const ChipNumbers& c, const TiledProduct& p) {
  const double peak = c.macs_per_ns * 1e9 * static_cast<double>(c.elements());
  const double rate =
      static_cast<double>(c.channels * c.burst_bytes) / (1e-12 * static_cast<double>(c.burst));
  // Two paths: what is read does not wait for what is written.
  const double bytes =
      static_cast<double>(std::max(p.load_bytes(c) + p.stream_bytes(c), p.write_bytes(c)));
  return std::max(static_cast<double>(p.padded_macs(c)) / peak, bytes / rate);
}

Ps systolic_time(const ChipNumbers& c, const TiledProduct& p) {
  std::int64_t cycles = 0;
  for (std::int64_t top = 0; top < p.m; top += c.array_rows) {
    for (std::int64_t left = 0; left < p.n; left += c.array_columns) {
      // K products enter, the last reaches the far corner R - 1 + C - 1 cycles later.
      cycles += p.k + (c.array_rows - 1) + (c.array_columns - 1);
    }
  }
  return duration(cycles, c.core_ghz);
}

}  // namespace assay::cases::chip
