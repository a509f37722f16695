// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an op log says: windows, utilisation, and where each engine's time went. Pure functions.
//
// Within a window W every engine slot is at each instant busy (an op is being served), blocked (the
// next op has been asked for but waits for a buffer or for memory) or starved (nothing to do yet,
// or no more). The three add up to W exactly. `queued` is the part of the blocked time in which the
// op has its buffer already, and waits because memory is busy with others.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "chip/kernel/op_log.h"
#include "chip/topology/topology.h"

namespace assay::chip {

enum class WindowKind {
  kPe,         // one processing element, from its first request to its last end
  kComposite,  // all of them, from the first request of any to the last end of any
};

struct WindowOptions {
  WindowKind kind = WindowKind::kComposite;
  // If not, the window opens with the first request that is not an up-front load. Operands that
  // stay for many products should not be charged to one.
  bool with_load = false;
  std::int32_t pe = 0;  // for kPe
};

struct Window {
  WindowOptions options;
  Time begin = 0, end = 0;
  Time length() const { return end - begin; }
  // Whether an op belongs to it.
  bool holds(const OpRecord& op) const {
    return (options.kind == WindowKind::kComposite || op.pe == options.pe) &&
           (options.with_load || !op.up_front());
  }
};

// The window of a log; empty (0, 0) if no op belongs to it.
Window window_of(const OpLog& log, const WindowOptions& options);
// "composite", "pe:3", with "+load" after it where the load is part of it.
std::string name_of(const WindowOptions& options);
// The other way round, on a chip with that many processing elements; "pe" is the first one. Throws
// UserError naming the text.
WindowOptions parse_window(std::string_view text, std::int32_t pes);

struct StageMetrics {
  std::int64_t records = 0;
  std::int64_t slots = 0;                   // engine slots of that stage in the window
  Time busy = 0, blocked = 0, starved = 0;  // summed over the slots: together slots * W
  Time queued = 0;                          // the part of `blocked` that waits for memory
  Time queue_wait = 0;                      // sum of grant - request over the ops
  std::int64_t bytes = 0;
};

struct GemmMetrics {
  Window window;
  std::array<StageMetrics, kStages.size()> stages;  // by Stage
  std::int64_t macs = 0, useful_macs = 0;
  double mac_utilisation = 0;    // padded MACs / (peak rate of the window's elements * W)
  double useful_efficiency = 0;  // M N K / (peak rate * W)
  double padded_fraction = 0;    // of the MACs

  const StageMetrics& operator[](Stage stage) const {
    return stages[static_cast<std::size_t>(stage)];
  }
};

GemmMetrics measure(const OpLog& log, const Topology& topology, const WindowOptions& options);

// One engine slot's share of the window.
struct SlotTime {
  Time busy = 0, blocked = 0, starved = 0;
  Time queued = 0;  // part of blocked
};
SlotTime slot_time(const OpLog& log, const Window& window, std::int32_t pe, Stage stage,
                   std::int32_t slot);

// The longest chain of dependent service times in the log: no schedule of these ops is shorter.
Time critical_path(const OpLog& log, const WindowOptions& options);

}  // namespace assay::chip
