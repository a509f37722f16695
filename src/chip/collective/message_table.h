// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pairs the sends and receives of a schedule: the k-th send from a to b on a channel is the k-th
// receive at b from a on it.

#include <vector>

#include "chip/collective/schedule.h"
#include "chip/network/transport.h"

namespace assay::chip {

inline constexpr MessageId kNoMessage = -1;

// The messages of one program, stage after stage, in the order of its transfers.
struct ProgramMessages {
  std::vector<MessageId> sends, receives;  // a receive that nobody sends: kNoMessage
};

struct MessageTable {
  struct Entry {
    std::int32_t from = 0, to = 0;
    std::int64_t elements = 0;
    const Transfer* send = nullptr;
    const Transfer* receive = nullptr;
  };
  std::vector<Entry> messages;
  std::vector<ProgramMessages> programs;  // as in the schedule
};

// Throws UserError naming the ranks when something is sent that is never received or received in
// another size, and when a transfer names a rank or elements that are not there.
MessageTable match_messages(const Schedule& schedule);

}  // namespace assay::chip
