// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Laws that the log of a matrix product keeps on an ideal chip, whatever simulated it. Where
// several elements ask memory at the same instant, their order is free; everything else follows:
//
//   plan     every tile step passes fetch and gemm once, in order, on the element that owns its
//            output, with the right bytes and multiply-accumulates; every output is written once
//   engines  fetch and gemm start exactly when step, engine and buffer are there
//   reads    memory serves one request after another, in the order in which they had a buffer, and
//            never rests while one waits; what crosses the mesh is there a packet for each channel
//            later
//   writes   the same on one element; over a mesh none is faster than its links and channels, and
//            none waits for more than all that is written at the same time
//   books    times and shares of the result are those of the log; busy + blocked + starved = window

#include <cstdint>
#include <span>
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

// From the stored form: rows of kOpColumns numbers.
std::vector<Op> ops_of(std::span<const std::int64_t> numbers);

// What a row says of the product, to be held against the log.
struct ProductBooks {
  double simulated_s = 0;  // end to end, up-front load included
  double composite_s = 0;  // without
  double mac_utilisation = 0, useful_efficiency = 0;
  // busy, blocked, starved of each stage, as shares of its slots' time; 0 where it has none.
  std::vector<double> shares;
};

// The first law that is broken, in words; empty: none is.
std::string broken_law(const ChipNumbers& c, const TiledProduct& p, const std::vector<Op>& ops,
                       const ProductBooks& books);

}  // namespace assay::cases::chip
