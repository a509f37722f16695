// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs schedules on a network: ranks as processes, messages with their payload over a transport.
//
// A rank spends the endpoint time before its first message and after every received one; adding a
// received message takes the rank's memory time, one message after another. A rank starts the next
// schedule when it is through with the one before.

#include <cstdint>
#include <string>
#include <vector>

#include "chip/collective/schedule.h"
#include "chip/network/contention.h"

namespace assay::chip {

struct MessageRecord {
  MessageId id = 0;
  std::int32_t from = 0, to = 0;
  std::int32_t split = 0;
  std::int32_t hops = 0;
  std::int64_t bytes = 0;
  Time t_sent = 0;     // handed to the network
  Time t_arrived = 0;  // its last byte is there
  bool adds = false;
  Time t_taken = 0;  // the receiver has it, endpoint and adding done, and goes on
  // With CollectiveRunOptions::detail: from when it has each link of its route (`fifo`), and what
  // it carries.
  std::vector<Time> starts = {};
  std::vector<Range> ranges = {};
};

struct CollectiveRunOptions {
  Contention contention = Contention::kFifo;
  std::int64_t element_bytes = 1;
  bool payload = true;         // carry and check data
  bool every_element = false;  // as cells of its own
  bool detail = false;         // log links and elements of every message, too
  // Whether wrong data is an error; if not, it is for the reader of the results to notice.
  bool refuse_wrong = true;
  std::uint64_t seed = 0;
};

struct CollectiveRunResult {
  Time time = 0;  // until the last rank is through
  std::uint64_t events = 0;
  std::vector<MessageRecord> messages;       // the log, in the order of sending
  bool verified = false;                     // data was carried and came out right
  std::vector<std::vector<double>> results;  // by rank: cells of all schedules one after another
  std::vector<std::int64_t> cells;           // first elements of the cells of the first schedule
};

// Runs the schedules one after another. Throws UserError that names the waiting ranks when they
// deadlock, and when a message is sent that nobody receives; InternalError when the data comes out
// wrong.
CollectiveRunResult run_schedules(const std::vector<Schedule>& schedules,
                                  const NetworkTopology& network,
                                  const CollectiveRunOptions& options);

}  // namespace assay::chip
