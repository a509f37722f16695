// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/exchange/schedule_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "lab/record/point.h"
#include "lab/record/stage_slices.h"

namespace assay::lab {
namespace {

// In the order an attempt has them; spawning and loading come before, judging after.
constexpr std::array<const char*, 10> kPhases = {"start",     "prepare", "cold", "warm_up",
                                                 "calibrate", "steady",  "runs", "output",
                                                 "memory",    "report"};

// What the attempt had to itself.
std::string resource_of(const Row& row) {
  if (const auto& device = row.provenance.device) return printable(*device);
  const auto& cpus = row.provenance.cpus;
  if (!cpus || cpus->empty()) return printable(row.platform) + ", not pinned";
  return fmt::format("{}, CPUs {}", printable(row.platform), canonical_json(*cpus));
}

std::string colour_of(Status status) {
  if (status == Status::kOk) return "good";
  if (is_void(status)) return "grey";
  return "terrible";
}

class Trace {
 public:
  void add(const Row& row, std::int64_t start_ns, std::int64_t end_ns, std::int64_t zero_ns) {
    const int pid = process_of(row), tid = thread_of(pid, resource_of(row));
    const auto slice = [&](std::string name, const char* category, double start_us, double us) {
      return Json{{"ph", "X"},       {"pid", pid},     {"tid", tid}, {"name", std::move(name)},
                  {"cat", category}, {"ts", start_us}, {"dur", us}};
    };
    const double start_us = 1e-3 * static_cast<double>(start_ns - zero_ns);
    const double us = 1e-3 * static_cast<double>(end_ns - start_ns);
    Json event = slice(fmt::format("{} · {}", printable(row.provider), printable(row.case_name)),
                       "attempt", start_us, us);
    event["cname"] = colour_of(row.status);
    event["args"] = {{"case", printable(row.case_name)},
                     {"point", printable(point_label(row.point))},
                     {"provider", printable(row.provider)},
                     {"round", row.round},
                     {"try", row.try_number},
                     {"order", row.order},
                     {"status", name_of(row.status)},
                     {"attempt_id", printable(row.attempt_id)}};
    if (const double time = row.metric_or_nan("steady_time"); time > 0) {
      event["args"]["steady_time_s"] = number_to_json(time);
    }
    events_.push_back(std::move(event));
    // How long each phase took is known, not when it began: they follow each other, ending with the
    // attempt, since what comes before them (spawning, loading) is longer than what comes after.
    double all = 0;
    for (const char* phase : kPhases) all += phase_us(row, phase);
    double at = start_us + std::max(0.0, us - all);
    for (const char* phase : kPhases) {
      const double length = phase_us(row, phase);
      if (length > 0 && all <= us) {
        events_.push_back(slice(phase, "phase", at, length));
        for (const auto& s : stages_in(row, phase, length)) {
          events_.push_back(slice(s.name, "stage", at + s.start_us, s.us));
        }
      }
      at += length;
    }
  }

  Json finish(int left_out) {
    return {{"traceEvents", std::move(events_)},
            {"displayTimeUnit", "ms"},
            {"otherData", {{"rows_without_times", left_out}}}};
  }

 private:
  static double phase_us(const Row& row, const char* phase) {
    const auto& phases = row.provenance.phases_s;
    if (!phases || !phases->contains(phase)) return 0;
    const double seconds = phases->at(phase);
    return seconds > 0 && seconds < 1e6 ? 1e6 * seconds : 0;
  }

  void name(const char* what, int pid, int tid, const std::string& text) {
    events_.push_back(
        Json{{"ph", "M"}, {"pid", pid}, {"tid", tid}, {"name", what}, {"args", {{"name", text}}}});
  }

  int process_of(const Row& row) {
    const auto title = fmt::format("run {}, machine {}", printable(row.run_id),
                                   printable(row.machine.fingerprint));
    const auto [it, fresh] = processes_.try_emplace(title, static_cast<int>(processes_.size()) + 1);
    if (fresh) name("process_name", it->second, 0, title);
    return it->second;
  }

  int thread_of(int pid, const std::string& resource) {
    const auto [it, fresh] =
        threads_.try_emplace({pid, resource}, static_cast<int>(threads_.size()) + 1);
    if (fresh) name("thread_name", pid, it->second, resource);
    return it->second;
  }

  Json events_ = Json::array();
  std::map<std::string, int> processes_;
  std::map<std::pair<int, std::string>, int> threads_;
};

}  // namespace

Json schedule_trace(std::span<const Row> rows) {
  std::map<std::string, std::int64_t> zero;
  std::vector<const Row*> timed;
  for (const Row& row : rows) {
    const auto start = row.provenance.start_ns, end = row.provenance.end_ns;
    if (!start || !end || *end <= *start) continue;
    timed.push_back(&row);
    const auto [it, fresh] = zero.try_emplace(row.run_id, *start);
    it->second = std::min(it->second, *start);
  }
  std::ranges::stable_sort(
      timed, {}, [](const Row* row) { return std::pair(row->run_id, *row->provenance.start_ns); });
  Trace trace;
  for (const Row* row : timed) {
    trace.add(*row, *row->provenance.start_ns, *row->provenance.end_ns, zero[row->run_id]);
  }
  return trace.finish(static_cast<int>(rows.size() - timed.size()));
}

}  // namespace assay::lab
