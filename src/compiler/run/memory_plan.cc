// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/run/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay::compiler {
namespace {

struct LiveRange {
  BufferId buffer = 0;
  std::size_t first = 0, last = 0;  // steps
  bool meets(const LiveRange& other) const { return first <= other.last && other.first <= last; }
};

}  // namespace

MemoryPlan plan_memory(const Program& program, const Bindings& symbols, std::int64_t gap) {
  MemoryPlan plan;
  plan.offsets.assign(program.buffers.size(), -1);
  for (const auto& buffer : program.buffers) {
    plan.bytes.push_back(product(buffer.shape).at(symbols) *
                         static_cast<std::int64_t>(size_of(buffer.dtype)));
  }
  std::vector<LiveRange> ranges;
  std::vector<std::size_t> range_of(program.buffers.size(), program.buffers.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    for (const auto id : program.steps[i].buffers) {
      if (program.buffers[id].kind != Buffer::Kind::kTemporary) continue;
      if (range_of[id] == program.buffers.size()) {
        range_of[id] = ranges.size();
        ranges.push_back({id, i, i});
      }
      ranges[range_of[id]].last = i;
    }
  }
  // The largest first, each at the lowest place that is free for as long as it is needed.
  std::ranges::stable_sort(ranges, [&](const LiveRange& a, const LiveRange& b) {
    return plan.bytes[a.buffer] > plan.bytes[b.buffer];
  });
  const auto size = [&](BufferId id) { return (plan.bytes[id] + gap + 63) / 64 * 64; };
  std::vector<LiveRange> placed;  // by offset
  for (const auto& range : ranges) {
    std::int64_t at = 0;
    for (const auto& other : placed) {
      if (!range.meets(other)) continue;
      const auto begin = plan.offsets[other.buffer];
      if (at + size(range.buffer) <= begin) break;
      at = std::max(at, begin + size(other.buffer));
    }
    plan.offsets[range.buffer] = at;
    plan.arena_bytes = std::max(plan.arena_bytes, at + size(range.buffer));
    placed.insert(std::ranges::upper_bound(
                      placed, at, {}, [&](const LiveRange& r) { return plan.offsets[r.buffer]; }),
                  range);
  }
  return plan;
}

std::string mistake_in_plan(const Program& program, const MemoryPlan& plan) {
  // From the end: what a step or a later one touches holds something from its first use on.
  std::vector<std::size_t> first_use(program.buffers.size(), program.steps.size());
  for (std::size_t i = program.steps.size(); i-- > 0;) {
    for (const auto id : program.steps[i].buffers) first_use[id] = i;
  }
  std::set<BufferId> needed;  // by this step or a later one
  for (std::size_t i = program.steps.size(); i-- > 0;) {
    for (const auto id : program.steps[i].buffers) {
      if (program.buffers[id].kind == Buffer::Kind::kTemporary) needed.insert(id);
    }
    std::vector<BufferId> held;  // while it runs
    for (const auto id : needed) {
      if (first_use[id] <= i) held.push_back(id);
    }
    std::ranges::sort(held, {}, [&](BufferId id) { return plan.offsets[id]; });
    std::int64_t end = 0;
    for (const auto id : held) {
      if (plan.bytes[id] == 0) continue;
      const auto begin = plan.offsets[id];
      if (begin < end) return fmt::format("buffer {} lies over another in step {}", id, i);
      end = begin + plan.bytes[id];
    }
    if (end > plan.arena_bytes) return fmt::format("step {} needs more than the arena", i);
  }
  return {};
}

}  // namespace assay::compiler
