// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Google Benchmark's JSON (--benchmark_out_format=json), versions 1.5 to 1.9: what one entry of its
// list "benchmarks" says. All repetitions of a benchmark happen in one process; aggregates follow
// from them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"

namespace assay::lab {

struct BenchmarkEntry {
  std::string benchmark;  // its name, the same for all repetitions and aggregates
  std::string aggregate;  // "mean", "median", …; empty: a repetition
  int threads = 1;
  // Which of the benchmarks it is: two may be registered under one name. Empty: the file does not
  // say (versions before 1.6).
  std::string instance;
  // How a repetition without times ended: "error_occurred" or "skipped_by_benchmark"; empty: well.
  std::string failure, message;
  double real_s = 0, cpu_s = 0;  // of one iteration; real_s is the manual time where there is one
  std::int64_t iterations = 0;
  std::optional<double> bytes_per_second, items_per_second;
};

// Throws UserError naming `what` for what the tool does not write. Aggregates other than mean and
// median (a deviation, the coefficients of a complexity) have no times.
BenchmarkEntry read_benchmark_entry(const Json& entry, std::string_view what);

// Members that entries have; what else there is are counters that the benchmark's author added.
bool is_benchmark_member(std::string_view key);

// The tool writes numbers that are none as NaN and Infinity, which no JSON may hold: a coefficient
// of variation of a counter that is 0 is enough. Each becomes an empty string of its length.
void blank_non_numbers(std::span<char> json);

}  // namespace assay::lab
