// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The hardware numbers that judging needs. They are read from the text of a topology file once
// more, by another reader than the engine's: a number misread there is a wrong time here.

#include <cstdint>
#include <string_view>

namespace assay::cases::chip {

using Ps = std::int64_t;  // picoseconds

// How long `amount` things take at a rate of `giga` · 10⁹ a second, rounded up.
Ps duration(std::int64_t amount, double giga);

struct ChipNumbers {
  std::int64_t rows = 1, columns = 1;  // processing elements
  std::int64_t buffers = 1, outputs = 1, queues = 1, sram_bytes = 1;
  bool held_through_gemm = true;                        // an operand buffer: else through fetch
  std::int64_t m = 1, k = 1, n = 1, element_bytes = 1;  // a tile
  std::int64_t channels = 1, burst_bytes = 1;
  Ps burst = 0;            // one burst in its channel
  Ps fetch = 0;            // the operands of a step to the array
  Ps gemm = 0;             // a step's multiply-accumulates
  Ps link_burst = 0;       // one burst over a link of the mesh
  double macs_per_ns = 1;  // of one element, at most
  std::int64_t array_rows = 1, array_columns = 1;
  double core_ghz = 1;
  // Between chips.
  double link_gbps = 1;
  Ps latency = 0, endpoint = 0;
  bool adding_takes_time = false;

  // Whether the laws of pipeline.h and op_laws.h hold here: tiles fill all channels evenly, reads
  // and writes do not meet, nothing but bytes takes time.
  bool ideal = false;

  std::int64_t elements() const { return rows * columns; }
  std::int64_t a_bytes() const { return m * k * element_bytes; }
  std::int64_t b_bytes() const { return k * n * element_bytes; }
  std::int64_t c_bytes() const { return m * n * element_bytes; }
  // All channels together, one burst each at a time.
  Ps memory(std::int64_t bytes) const { return bytes / (channels * burst_bytes) * burst; }
};

// Throws UserError where the text is no topology.
ChipNumbers read_chip_numbers(std::string_view text);

}  // namespace assay::cases::chip
