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
//   books    times, shares and use of memory, links and SRAM are those of log and plan; busy +
//            blocked + starved = window

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cases/chip/oracle/op_books.h"

namespace assay::cases::chip {

// From the stored form: rows of kOpColumns numbers.
std::vector<Op> ops_of(std::span<const std::int64_t> numbers);

// The first law that is broken, in words; empty: none is.
std::string broken_law(const ChipNumbers& c, const TiledProduct& p, const std::vector<Op>& ops,
                       const ProductBooks& books);

}  // namespace assay::cases::chip
