// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/metrics.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/error.h"

namespace assay::chip {
namespace {

// Splits the window of one slot among its ops, which are given in the order of grant.
SlotTime split_window(const Window& window, const std::vector<const OpRecord*>& ops) {
  SlotTime time;
  Time at = window.begin;
  const auto advance = [&](Time to, Time& account) {
    to = std::clamp(to, at, window.end);
    account += to - at;
    at = to;
  };
  for (const OpRecord* op : ops) {
    advance(op->t_request, time.starved);
    advance(op->t_ready, time.blocked);
    advance(op->t_grant, time.queued);
    advance(op->t_end, time.busy);
  }
  advance(window.end, time.starved);
  time.blocked += time.queued;
  return time;
}

// The window's ops of every slot, in the order of grant.
std::vector<std::vector<const OpRecord*>> by_slot(const OpLog& log, const Window& window,
                                                  Stage stage) {
  const auto slots = static_cast<std::size_t>(log.slots(stage));
  std::vector<std::vector<const OpRecord*>> out(static_cast<std::size_t>(log.pes) * slots);
  for (const auto& op : log.ops) {
    if (op.stage != stage || !window.holds(op)) continue;
    out[static_cast<std::size_t>(op.pe) * slots + static_cast<std::size_t>(op.slot)].push_back(&op);
  }
  for (auto& ops : out) {
    std::sort(ops.begin(), ops.end(), [](const OpRecord* a, const OpRecord* b) {
      return std::pair(a->t_grant, a->id) < std::pair(b->t_grant, b->id);
    });
  }
  return out;
}

}  // namespace

std::string name_of(const WindowOptions& options) {
  std::string name =
      options.kind == WindowKind::kPe ? fmt::format("pe:{}", options.pe) : "composite";
  return options.with_load ? name + "+load" : name;
}

WindowOptions parse_window(std::string_view text, std::int32_t pes) {
  constexpr std::string_view kLoad = "+load", kPe = "pe:";
  WindowOptions options;
  std::string_view kind = text;
  options.with_load = kind.ends_with(kLoad);
  if (options.with_load) kind.remove_suffix(kLoad.size());
  if (kind == "composite") return options;
  if (kind == "pe") kind = "pe:0";
  if (kind.starts_with(kPe)) {
    options.kind = WindowKind::kPe;
    kind.remove_prefix(kPe.size());
    const auto [end, error] = std::from_chars(kind.data(), kind.data() + kind.size(), options.pe);
    if (error == std::errc() && end == kind.data() + kind.size() && options.pe >= 0 &&
        options.pe < pes) {
      return options;
    }
  }
  fail("expected a window composite, composite+load, pe:N or pe:N+load with N below {}, got '{}'",
       pes, text);
}

Window window_of(const OpLog& log, const WindowOptions& options) {
  Window window{options, kEndOfTime, 0};
  for (const auto& op : log.ops) {
    if (!window.holds(op)) continue;
    window.begin = std::min(window.begin, op.t_request);
    window.end = std::max(window.end, op.t_end);
  }
  if (window.begin == kEndOfTime) window.begin = 0;
  return window;
}

SlotTime slot_time(const OpLog& log, const Window& window, std::int32_t pe, Stage stage,
                   std::int32_t slot) {
  const auto slots = by_slot(log, window, stage);
  return split_window(window, slots[static_cast<std::size_t>(pe * log.slots(stage) + slot)]);
}

GemmMetrics measure(const OpLog& log, const Topology& topology, const WindowOptions& options) {
  GemmMetrics metrics;
  metrics.window = window_of(log, options);
  const Window& window = metrics.window;
  for (const Stage stage : kStages) {
    StageMetrics& m = metrics.stages[static_cast<std::size_t>(stage)];
    const auto slots = by_slot(log, window, stage);
    for (std::size_t s = 0; s < slots.size(); ++s) {
      const auto pe = static_cast<std::int32_t>(s) / log.slots(stage);
      if (options.kind == WindowKind::kPe && pe != options.pe) continue;
      ++m.slots;
      const SlotTime time = split_window(window, slots[s]);
      m.busy += time.busy;
      m.blocked += time.blocked;
      m.starved += time.starved;
      m.queued += time.queued;
      for (const OpRecord* op : slots[s]) {
        ++m.records;
        m.queue_wait += op->t_grant - op->t_request;
        m.bytes += op->bytes;
        metrics.macs += op->macs;
        metrics.useful_macs += op->useful_macs;
      }
    }
  }
  const double elements =
      options.kind == WindowKind::kPe ? 1 : static_cast<double>(topology.pe_count());
  const double possible = topology.peak_macs_per_second() * elements * to_seconds(window.length());
  if (possible > 0) {
    metrics.mac_utilisation = static_cast<double>(metrics.macs) / possible;
    metrics.useful_efficiency = static_cast<double>(metrics.useful_macs) / possible;
  }
  if (metrics.macs > 0) {
    metrics.padded_fraction =
        static_cast<double>(metrics.macs - metrics.useful_macs) / static_cast<double>(metrics.macs);
  }
  return metrics;
}

Time critical_path(const OpLog& log, const WindowOptions& options) {
  const Window window = window_of(log, options);
  std::vector<Time> until(log.ops.size(), 0);  // the longest chain up to and including the op
  Time longest = 0;
  for (const auto& op : log.ops) {
    if (!window.holds(op)) continue;
    Time& chain = until[static_cast<std::size_t>(op.id)];
    for (const OpId id : op.dependencies) {
      if (id != kNoOp) chain = std::max(chain, until[static_cast<std::size_t>(id)]);
    }
    chain += op.busy();
    longest = std::max(longest, chain);
  }
  return longest;
}

}  // namespace assay::chip
