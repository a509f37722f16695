// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective/message_table.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"

namespace assay::chip {
namespace {

// One end of a message. The order of sorting is (from, to, channel), then the order of the program.
struct End {
  std::int32_t from, to, channel;
  std::size_t program, position;
  const Transfer* transfer;

  auto key() const { return std::tuple(from, to, channel); }
};

void sort_ends(std::vector<End>& ends) {
  std::stable_sort(ends.begin(), ends.end(),
                   [](const End& a, const End& b) { return a.key() < b.key(); });
}

// Refuses what no network could carry: schedules may come from outside.
void check_transfer(const Schedule& schedule, const Program& program, const Transfer& t) {
  if (t.peer < 0 || t.peer >= schedule.ranks || t.peer == program.rank) {
    fail("rank {} of {} cannot talk to rank {}", program.rank, schedule.ranks, t.peer);
  }
  const auto known = static_cast<std::int64_t>(schedule.ranges.size());
  if (t.first_range < 0 || t.ranges < 0 || t.first_range + std::int64_t{t.ranges} > known) {
    fail("rank {} moves ranges that the schedule does not have", program.rank);
  }
  for (const Range range : schedule.ranges_of(t)) {
    if (range.begin < 0 || range.begin > range.end || range.end > schedule.extent) {
      fail("rank {} moves elements {} to {} of {}", program.rank, range.begin, range.end,
           schedule.extent);
    }
  }
}

}  // namespace

MessageTable match_messages(const Schedule& schedule) {
  MessageTable table;
  table.programs.resize(schedule.programs.size());
  std::vector<End> sends, receives;
  for (std::size_t p = 0; p < schedule.programs.size(); ++p) {
    const Program& program = schedule.programs[p];
    auto& messages = table.programs[p];
    if (program.rank < 0 || program.rank >= schedule.ranks || program.stages.empty()) {
      fail("a program of rank {} of {} has {} stages", program.rank, schedule.ranks,
           program.stages.size());
    }
    for (const StagePlan& stage : program.stages) {
      for (const Transfer& t : stage.sends) {
        check_transfer(schedule, program, t);
        sends.push_back({program.rank, t.peer, t.channel, p, messages.sends.size(), &t});
        messages.sends.push_back(kNoMessage);
      }
      for (const Transfer& t : stage.receives) {
        check_transfer(schedule, program, t);
        receives.push_back({t.peer, program.rank, t.channel, p, messages.receives.size(), &t});
        messages.receives.push_back(kNoMessage);
      }
    }
  }
  sort_ends(sends);
  sort_ends(receives);
  std::size_t r = 0;
  for (const End& send : sends) {
    while (r < receives.size() && receives[r].key() < send.key()) ++r;  // nobody sends these
    if (r == receives.size() || receives[r].key() != send.key()) {
      fail("rank {} sends to rank {} what it never receives", send.from, send.to);
    }
    const End& receive = receives[r++];
    const std::int64_t elements = schedule.elements_of(*send.transfer);
    if (schedule.elements_of(*receive.transfer) != elements) {
      fail("rank {} sends {} elements to rank {}, which expects {}", send.from, elements, send.to,
           schedule.elements_of(*receive.transfer));
    }
    const auto id = static_cast<MessageId>(table.messages.size());
    table.messages.push_back({send.from, send.to, elements, send.transfer, receive.transfer});
    table.programs[send.program].sends[send.position] = id;
    table.programs[receive.program].receives[receive.position] = id;
  }
  return table;
}

}  // namespace assay::chip
