// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace assay {

// Nanoseconds of the monotonic clock; differences are elapsed time.
std::int64_t monotonic_ns();

// Nanoseconds since the Unix epoch.
std::int64_t realtime_ns();

// UTC with microseconds, e.g. "20260131T235959.000001Z": lexical order is time order.
std::string utc_compact(std::int64_t unix_ns);
// The same instant as "2026-01-31T23:59:59.000001Z".
std::string utc_iso8601(std::int64_t unix_ns);

// The smallest step this clock was seen to make, in nanoseconds. clock_getres() may say 1 ns where
// the hardware counter ticks every 31.
std::int64_t observed_clock_step_ns();

}  // namespace assay
