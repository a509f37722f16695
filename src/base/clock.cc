// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

namespace assay {
namespace {

std::int64_t read_clock(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::string utc(std::int64_t unix_ns, const char* format) {
  const time_t seconds = static_cast<time_t>(unix_ns / 1'000'000'000);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char date[32];
  strftime(date, sizeof date, format, &parts);
  return fmt::format("{}.{:06}Z", date, unix_ns % 1'000'000'000 / 1000);
}

}  // namespace

std::int64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }
std::int64_t realtime_ns() { return read_clock(CLOCK_REALTIME); }

std::string utc_compact(std::int64_t unix_ns) { return utc(unix_ns, "%Y%m%dT%H%M%S"); }
std::string utc_iso8601(std::int64_t unix_ns) { return utc(unix_ns, "%Y-%m-%dT%H:%M:%S"); }

std::int64_t observed_clock_step_ns() {
  std::int64_t step = 1'000'000'000;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t start = monotonic_ns();
    std::int64_t now = start;
    while (now == start) now = monotonic_ns();
    step = std::min(step, now - start);
  }
  return step;
}

}  // namespace assay
