// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Laws that the log of an all-reduce keeps, whatever simulated it and by which algorithm. Where two
// messages reach a link at the same instant, their order is free; everything else follows:
//
//   links   a message takes its route; each link carries one after another, first come, first
//           served, and never rests while one waits; the head moves on after the latency
//   ranks   nobody sends for no reason: a rank sends when it starts, when it has taken something
//   in,
//           or when an earlier message has left; it takes a message in after it has arrived
//   data    followed by who has contributed to what: nothing is added twice, nothing sent that is
//           not there, and in the end every rank has everybody's part of every element
//   values  the sums are those of the numbers that the ranks put in
//   volume  the algorithm's number of bytes travels; the time is when the last message is taken in,
//           and the busiest link carries its bytes for as much of it as is said

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cases/chip/oracle/chip_network.h"
#include "cases/chip/oracle/chip_numbers.h"

namespace assay::cases::chip {

struct LoggedMessage {
  std::int64_t from = 0, to = 0, bytes = 0;
  bool adds = false;
  Ps sent = 0, arrived = 0, taken = 0;
  std::vector<Ps> starts;                                       // on each link of its route
  std::vector<std::pair<std::int64_t, std::int64_t>> elements;  // [begin, end), what it carries
};
inline constexpr std::int64_t kMessageColumns = 7;  // up to `taken`, in the order above

struct AllReduceLog {
  std::vector<LoggedMessage> messages;
  // Results: a value for each rank and each run of elements that starts at `cells`.
  std::vector<std::int64_t> cells;
  std::vector<double> results;
  double simulated_s = 0;
  double link_use = 0;  // of the busiest link, of the whole time
};

// From the stored form: `messages` are rows of kMessageColumns; `starts` and `ranges` rows of
// (message, start) and (message, begin, end), in the order of the messages. Throws UserError.
AllReduceLog log_of(std::span<const std::int64_t> messages, std::span<const std::int64_t> starts,
                    std::span<const std::int64_t> ranges);

struct AllReduceProblem {
  std::string_view algorithm;
  std::int64_t bytes = 0, element_bytes = 4;
  std::uint64_t seed =
      0;  // rank r's element e is value e of the stream (seed, r), see message_laws.cc

  std::int64_t length() const { return bytes / element_bytes; }
};

// The first law that is broken, in words; empty: none is. For at most 64 ranks.
std::string broken_law(const ChipNumbers& c, const ChipNetwork& network,
                       const AllReduceProblem& problem, const AllReduceLog& log);

}  // namespace assay::cases::chip
