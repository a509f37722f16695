// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/show/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/json.h"

namespace assay::chip {
namespace {

// Builds the text event by event; a Json value of a million events would need gigabytes.
class TraceText {
 public:
  TraceText() : text_("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[") {}

  template <typename... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    text_ += first_ ? "\n{" : ",\n{";
    first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '}';
  }

  void name_process(std::int64_t pid, const std::string& name) {
    event(R"("ph":"M","pid":{},"name":"process_name","args":{{"name":"{}"}})", pid, name);
  }
  void name_track(std::int64_t pid, std::int64_t tid, const std::string& name) {
    event(R"("ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"}})", pid, tid,
          name);
  }
  void counter(std::int64_t pid, std::string_view name, Time at, double value) {
    event(R"("ph":"C","pid":{},"name":"{}","ts":{},"args":{{"value":{}}})", pid, name, us(at),
          value);
  }
  // An arrow from inside one slice to the start of another.
  void arrow(std::int64_t id, std::int64_t from_pid, std::int64_t from_tid, Time from,
             std::int64_t to_pid, std::int64_t to_tid, Time to) {
    event(R"("ph":"s","cat":"dependency","name":"needs","id":{},"pid":{},"tid":{},"ts":{})", id,
          from_pid, from_tid, us(from));
    event(
        R"("ph":"f","bp":"e","cat":"dependency","name":"needs","id":{},"pid":{},"tid":{},"ts":{})",
        id, to_pid, to_tid, us(to));
  }

  static std::string us(Time time) {
    constexpr Time kMicrosecond = 1000 * kNanosecond;
    return fmt::format("{}.{:06}", time / kMicrosecond, time % kMicrosecond);
  }

  std::string finish(const Json& about) {
    text_ += "\n],\"otherData\":" + canonical_json(about) + "}\n";
    return std::move(text_);
  }

 private:
  std::string text_;
  bool first_ = true;
};

// A quantity that changes by steps, written out once per instant.
class StepCounter {
 public:
  void add(Time at, double change) { changes_[at] += change; }
  void write(TraceText& trace, std::int64_t pid, std::string_view name) const {
    double value = 0;
    for (const auto& [at, change] : changes_) {
      value += change;
      // Sums of quotients: what is left of them at the end is rounding, far below a thousandth.
      trace.counter(pid, name, at, std::round(value * 1e3) / 1e3 + 0.0);
    }
  }

 private:
  std::map<Time, double> changes_;
};

}  // namespace

std::string gemm_trace(const GemmResult& result, const Topology& topology) {
  const OpLog& log = result.log;
  TraceText trace;
  const auto track = [&](const OpRecord& op) {
    return static_cast<std::int64_t>(op.stage) * log.dma_slots + op.slot + 1;
  };
  for (std::int32_t pe = 0; pe < log.pes; ++pe) {
    trace.name_process(pe, fmt::format("PE {}", pe));
    for (const Stage stage : kStages) {
      for (std::int32_t slot = 0; slot < log.slots(stage); ++slot) {
        OpRecord op;
        op.stage = stage;
        op.slot = slot;
        trace.name_track(pe, track(op), fmt::format("{} {}", engine_of(stage), slot));
      }
    }
  }
  const std::int64_t memory = log.pes;
  trace.name_process(memory, "HBM");

  StepCounter read, written;
  std::vector<StepCounter> buffers(static_cast<std::size_t>(log.pes));
  const Stage first = result.options.variant == Variant::kLoadLoad ? Stage::kFetch : Stage::kDmaIn;
  const Stage last =
      topology.pe.buffer_release == BufferRelease::kFetch ? Stage::kFetch : Stage::kGemm;
  std::int64_t arrows = 0;
  for (const OpRecord& op : log.ops) {
    trace.event(
        R"("ph":"X","pid":{},"tid":{},"cat":"{}","name":"{}","ts":{},"dur":{},"args":{{"id":{},"tile":{},"bytes":{},"macs":{},"useful_macs":{},"queue_wait_ns":{}}})",
        op.pe, track(op), name_of(op.stage),
        op.up_front() ? std::string("load") : fmt::format("{} {}", name_of(op.stage), op.tile),
        TraceText::us(op.t_grant), TraceText::us(op.busy()), op.id, op.tile, op.bytes, op.macs,
        op.useful_macs, to_ns(op.t_grant - op.t_request));
    for (const OpId id : op.dependencies) {
      if (id == kNoOp) continue;
      const OpRecord& before = log.ops[static_cast<std::size_t>(id)];
      trace.arrow(arrows++, before.pe, track(before), before.t_grant, op.pe, track(op), op.t_grant);
    }
    if ((op.stage == Stage::kDmaIn || op.stage == Stage::kDmaOut) && op.busy() > 0) {
      const double gb_per_s = static_cast<double>(op.bytes) / to_ns(op.busy());
      StepCounter& counter = op.stage == Stage::kDmaIn ? read : written;
      counter.add(op.t_grant, gb_per_s);
      counter.add(op.t_end, -gb_per_s);
    }
    if (op.up_front()) continue;
    if (op.stage == first) buffers[static_cast<std::size_t>(op.pe)].add(op.t_grant, 1);
    if (op.stage == last) buffers[static_cast<std::size_t>(op.pe)].add(op.t_end, -1);
  }
  read.write(trace, memory, "HBM read GB/s");
  written.write(trace, memory, "HBM write GB/s");
  for (std::int32_t pe = 0; pe < log.pes; ++pe) {
    buffers[static_cast<std::size_t>(pe)].write(trace, pe, "buffers in use");
  }
  return trace.finish({{"gemm", to_string(result.options.shape)},
                       {"variant", name_of(result.options.variant)},
                       {"topology_hash", result.topology.hash()},
                       {"engine_version", kEngineVersion}});
}

std::string collective_trace(const CollectiveResult& result) {
  TraceText trace;
  const auto ranks = result.topology.network.ranks;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    trace.name_process(rank, fmt::format("rank {}", rank));
  }
  // Slices on one track must nest; messages in flight need not, so each takes the lowest track of
  // its sender that is free.
  std::vector<std::vector<Time>> free_at(static_cast<std::size_t>(ranks));
  std::vector<StepCounter> flying(static_cast<std::size_t>(ranks));
  for (const MessageRecord& message : result.messages) {
    auto& tracks = free_at[static_cast<std::size_t>(message.from)];
    const auto it = std::find_if(tracks.begin(), tracks.end(),
                                 [&](Time free) { return free <= message.t_sent; });
    const auto tid = it - tracks.begin();
    if (it == tracks.end()) {
      tracks.push_back(0);
      trace.name_track(message.from, tid + 1, fmt::format("sends {}", tid));
    }
    tracks[static_cast<std::size_t>(tid)] = message.t_arrived;
    trace.event(
        R"("ph":"X","pid":{},"tid":{},"cat":"message","name":"to {}","ts":{},"dur":{},"args":{{"id":{},"bytes":{},"hops":{},"split":{},"adds":{}}})",
        message.from, tid + 1, message.to, TraceText::us(message.t_sent),
        TraceText::us(message.t_arrived - message.t_sent), message.id, message.bytes, message.hops,
        message.split, message.adds);
    flying[static_cast<std::size_t>(message.from)].add(message.t_sent, 1);
    flying[static_cast<std::size_t>(message.from)].add(message.t_arrived, -1);
  }
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    flying[static_cast<std::size_t>(rank)].write(trace, rank, "messages in flight");
  }
  return trace.finish({{"collective", name_of(result.options.collective)},
                       {"algorithm", name_of(result.options.algorithm)},
                       {"contention", name_of(result.options.contention)},
                       {"topology_hash", result.topology.hash()},
                       {"engine_version", kEngineVersion}});
}

}  // namespace assay::chip
