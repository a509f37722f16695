// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// High-bandwidth memory: pseudo-channels that serve bursts one after another.
//
// A burst belongs to channel (address / burst) mod channels. A channel is busy until its
// `available_at`; whoever asks later waits, first come, first served. Where reads and writes share
// the channel, a change of direction costs the turnaround; with separate paths they never meet.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "chip/topology/topology.h"

namespace assay::chip {

enum class Direction : std::uint8_t { kRead, kWrite };

class Hbm {
 public:
  explicit Hbm(const HbmTopology& topology)
      : topology_(topology),
        burst_time_(topology.burst_time()),
        channels_(static_cast<std::size_t>(topology.channels)) {}

  std::int64_t channel_of(std::int64_t burst) const { return burst % topology_.channels; }

  struct Service {
    Time start, end;
  };
  // Serves a burst that is asked for at `now`; calls must come in the order of time.
  Service serve(std::int64_t burst, Direction direction, Time now) {
    Channel& channel = channels_[static_cast<std::size_t>(channel_of(burst))];
    const std::size_t path =
        topology_.separate_write_path ? static_cast<std::size_t>(direction) : 0;
    Time start = std::max(now, channel.available_at[path]);
    if (!topology_.separate_write_path) {
      if (channel.used && channel.direction != direction) start += topology_.turnaround;
      channel.used = true;
      channel.direction = direction;
    }
    const Time end = start + burst_time_;
    channel.available_at[path] = end;
    channel.busy[static_cast<std::size_t>(direction)] += burst_time_;
    return {start, end};
  }

  // How long the busiest channel read, or wrote.
  Time busiest(Direction direction) const {
    Time most = 0;
    for (const Channel& c : channels_) {
      most = std::max(most, c.busy[static_cast<std::size_t>(direction)]);
    }
    return most;
  }

 private:
  struct Channel {
    std::array<Time, 2> available_at = {0, 0};  // by direction; the first alone if they share
    std::array<Time, 2> busy = {0, 0};          // by direction
    Direction direction = Direction::kRead;
    bool used = false;
  };

  HbmTopology topology_;
  Time burst_time_;
  std::vector<Channel> channels_;
};

}  // namespace assay::chip
