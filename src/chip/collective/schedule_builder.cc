// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective/schedule_builder.h"

#include <algorithm>

#include "base/error.h"

namespace assay::chip {

ScheduleBuilder::ScheduleBuilder(const ScheduleOptions& options) : options_(options) {
  schedule_.collective = options.collective;
  schedule_.ranks = options.ranks;
  schedule_.length = options.length;
  schedule_.extent =
      options.collective == Collective::kAllToAll ? options.ranks * options.length : options.length;
  lane_ = -1;
  open_lane();
}

void ScheduleBuilder::open_lane() {
  check(std::ssize(schedule_.programs) == (lane_ + 1) * options_.ranks,
        "lanes are opened before further programs");
  ++lane_;
  for (std::int32_t rank = 0; rank < options_.ranks; ++rank) {
    schedule_.programs.push_back({rank, false, {}});
  }
}

Program& ScheduleBuilder::add_program(std::int32_t rank, bool paced) {
  return schedule_.programs.emplace_back(Program{rank, paced, {}});
}

Transfer ScheduleBuilder::transfer(std::int32_t peer, const Ranges& ranges, bool adds,
                                   std::int32_t channel) {
  Transfer t{peer, channel, static_cast<std::int32_t>(schedule_.ranges.size()), 0, adds};
  for (const Range range : ranges) {
    if (range.size() == 0) continue;
    // Neighbours travel as one.
    if (t.ranges > 0 && schedule_.ranges.back().end == range.begin) {
      schedule_.ranges.back().end = range.end;
    } else {
      schedule_.ranges.push_back(range);
      ++t.ranges;
    }
  }
  return t;
}

void ScheduleBuilder::ring_pass(const std::vector<std::int32_t>& members,
                                const std::vector<Ranges>& pieces, std::size_t ahead, bool adds) {
  // In step s position i passes on piece i - ahead - s, which came to it in the step before.
  const std::size_t m = members.size();
  for (std::size_t i = 0; i < m; ++i) {
    const auto next = members[(i + 1) % m], previous = members[(i + m - 1) % m];
    for (std::size_t s = 0; s + 1 < m; ++s) {
      StagePlan& here = stage(members[i]);
      const std::size_t sent = i + 2 * m - s - ahead;
      here.sends.push_back(transfer(next, pieces[sent % m]));
      here.receives.push_back(transfer(previous, pieces[(sent - 1) % m], adds));
    }
  }
}

void ScheduleBuilder::ring_reduce_scatter(const std::vector<std::int32_t>& members,
                                          const std::vector<Ranges>& pieces) {
  // Piece i - 1 starts at i and goes once around: the last thing that position i adds is piece i.
  ring_pass(members, pieces, 1, true);
}

void ScheduleBuilder::ring_all_gather(const std::vector<std::int32_t>& members,
                                      const std::vector<Ranges>& pieces) {
  ring_pass(members, pieces, 0, false);
}

void ScheduleBuilder::direct_reduce_scatter(const std::vector<std::int32_t>& members,
                                            const std::vector<Ranges>& pieces) {
  const std::size_t m = members.size();
  for (std::size_t i = 0; i < m && m > 1; ++i) {
    StagePlan& here = stage(members[i]);
    for (std::size_t d = 1; d < m; ++d) {
      const std::size_t to = (i + d) % m, from = (i + m - d) % m;
      here.sends.push_back(transfer(members[to], pieces[to]));
      here.receives.push_back(transfer(members[from], pieces[i], true));
    }
  }
}

void ScheduleBuilder::direct_all_gather(const std::vector<std::int32_t>& members,
                                        const std::vector<Ranges>& pieces) {
  const std::size_t m = members.size();
  for (std::size_t i = 0; i < m && m > 1; ++i) {
    StagePlan& here = stage(members[i]);
    for (std::size_t d = 1; d < m; ++d) {
      const std::size_t to = (i + d) % m, from = (i + m - d) % m;
      here.sends.push_back(transfer(members[to], pieces[i]));
      here.receives.push_back(transfer(members[from], pieces[from]));
    }
  }
}

Schedule ScheduleBuilder::take() {
  auto& programs = schedule_.programs;
  std::erase_if(programs, [](const Program& p) { return p.stages.empty(); });
  return std::move(schedule_);
}

}  // namespace assay::chip
