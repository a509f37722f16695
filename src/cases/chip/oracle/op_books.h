// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What follows from the log of a matrix product by adding up: times, shares of the window, use of
// memory, links and SRAM.

#include <cstdint>
#include <string>
#include <vector>

#include "cases/chip/oracle/pipeline.h"

namespace assay::cases::chip {

enum class OpStage : std::int64_t { kIn = 0, kFetch = 1, kGemm = 2, kOut = 3 };

struct Op {
  std::int64_t pe = 0, slot = 0;
  OpStage stage = OpStage::kIn;
  std::int64_t tile = -1;  // (i · tiles along N + j) · tiles along K + k; -1: an up-front load
  Ps request = 0, grant = 0, end = 0;
  std::int64_t bytes = 0, macs = 0, useful_macs = 0;
};
inline constexpr std::int64_t kOpColumns = 10;  // of a stored log, in the order above

inline constexpr const char* kStageNames[] = {"dma_in", "fetch", "gemm", "dma_out"};

// What a row says of the product, to be held against the log.
struct ProductBooks {
  double simulated_s = 0;  // end to end, up-front load included
  double composite_s = 0;  // without
  double mac_utilisation = 0, useful_efficiency = 0;
  // busy, blocked, starved of each stage, as shares of its slots' time; 0 where it has none.
  std::vector<double> shares;
  // End to end: HBM reads, HBM writes, busiest channel, busiest link of the mesh, SRAM.
  std::vector<double> use;
};

// The first number that does not follow from the log, in words; empty: all do.
std::string wrong_books(const ChipNumbers& c, const TiledProduct& p, const std::vector<Op>& ops,
                        const ProductBooks& books);

}  // namespace assay::cases::chip
