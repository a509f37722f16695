// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/exchange/imported.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "lab/beside/derive.h"

namespace assay::lab {
namespace {

constexpr std::size_t kShortCommit = 7;

void add_steady_metrics(const ImportedAttempt& attempt, const std::string& what, Row& row) {
  row.metrics = attempt.metrics;
  const auto check_time = [&](double value) {
    if (!std::isfinite(value) || value <= 0) {
      fail("{}: the time of '{}' is not positive and finite: {}", what, attempt.benchmark, value);
    }
  };
  for (const double value : attempt.samples_s) check_time(value);
  if (!attempt.samples_s.empty()) {
    add_steady_statistics(attempt.samples_s, row.metrics);
    row.samples.lists["steady_s"] = attempt.samples_s;
    if (attempt.batch_calls > 0) row.samples.batch_calls = attempt.batch_calls;
  } else if (attempt.steady_time_s) {
    check_time(*attempt.steady_time_s);
    row.metrics["steady_time"] = *attempt.steady_time_s;
  }
}

constexpr std::size_t kMostRowsOfBenchmark = 1000, kMostRowsOfFile = 20'000,
                      kMostBenchmarks = 10'000;
constexpr std::size_t kFewestRowsOfBenchmark = 10;  // enough for an interval, and for a gate

Json machine_of(const ImportedFile& file, const std::string& hash) {
  Json machine = file.host;
  const bool known = !file.hardware.empty();
  machine["fingerprint"] =
      short_hash(canonical_json(known ? Json{{"imported", file.hardware}} : Json{{"file", hash}}));
  machine["fingerprint_from"] = known ? "what the file says of its host" : "the file alone";
  machine["hardware"] = file.hardware;
  return machine;
}

// The suffix of a run_id: letters and digits only.
std::string run_suffix(const std::string& commit, const std::string& hash) {
  std::string suffix;
  for (const char c : commit) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 && suffix.size() < kShortCommit) {
      suffix += c;
    }
  }
  return suffix.empty() ? hash.substr(0, kShortCommit) : suffix;
}

}  // namespace

std::size_t rows_of_each(std::size_t benchmarks, std::string_view what) {
  if (benchmarks > kMostBenchmarks) {
    fail("{}: {} benchmarks, more than the {} that one file may have", what, benchmarks,
         kMostBenchmarks);
  }
  if (benchmarks == 0) return kMostRowsOfBenchmark;
  return std::clamp(kMostRowsOfFile / benchmarks, kFewestRowsOfBenchmark, kMostRowsOfBenchmark);
}

ProcessRows::ProcessRows(std::vector<ImportedAttempt>& out, std::size_t count, std::size_t rows)
    : out_(out), per_row_((count + rows - 1) / rows) {}

void ProcessRows::add(ImportedAttempt process) {
  auto& block = open_[process.status];
  if (block.count == 0) {
    block.attempt = std::move(process);
  } else {
    auto& all = block.attempt.samples_s;
    all.insert(all.end(), process.samples_s.begin(), process.samples_s.end());
    for (const auto& [name, value] : process.metrics) {
      const auto [known, fresh] = block.attempt.metrics.emplace(name, value);
      if (!fresh) known->second = std::max(known->second, value);
    }
  }
  if (++block.count == per_row_) close(block.attempt, std::exchange(block.count, 0));
}

void ProcessRows::close(ImportedAttempt& block, std::size_t count) {
  if (count > 1) {
    block.details["processes"] = count;
    if (block.failure) block.failure->message += fmt::format(" (the first of {} alike)", count);
  }
  out_.push_back(std::move(block));
}

void ProcessRows::finish() {
  for (auto& [status, block] : open_) {
    if (block.count > 0) close(block.attempt, std::exchange(block.count, 0));
  }
}

std::vector<Row> imported_rows(ImportedFile file, const std::string& hash,
                               const ImportOptions& options) {
  const auto& what = options.file_name;
  if (file.attempts.empty()) fail("{}: a {} file without a single benchmark", what, file.tool);
  const auto commit = options.commit.empty() ? file.commit : options.commit;
  const auto time_ns = file.unix_ns.value_or(options.file_time_ns);
  const auto run_id = utc_compact(time_ns) + "-" + run_suffix(commit, hash);
  const auto machine = options.machine.is_null() ? machine_of(file, hash) : options.machine;
  const auto known = [](const std::string& fact) {
    return fact.empty() ? std::nullopt : std::optional(fact);
  };

  std::vector<Row> rows;
  std::map<std::tuple<std::string, std::string, std::string, int>, int> rounds;
  for (auto& attempt : file.attempts) {
    if (attempt.benchmark.empty()) fail("{}: a benchmark without a name", what);
    check((attempt.status == Status::kOk) == !attempt.failure, "a failure exactly where not ok");
    Row row;
    row.run_id = run_id;
    row.suite = options.suite;
    row.case_name = options.case_name.empty() ? attempt.benchmark : options.case_name;
    row.provider = !options.provider.empty()    ? options.provider
                   : !options.case_name.empty() ? attempt.benchmark
                                                : file.provider;
    row.point = attempt.point;
    row.platform = file.platform;
    row.machine = machine_from_json(machine);
    row.cores = attempt.threads;
    row.round = rounds[{row.case_name, canonical_json(row.point), row.provider, attempt.threads}]++;
    row.order = static_cast<int>(rows.size());
    row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, row.platform,
                                     row.cores, row.round, 0);
    row.status = attempt.status;
    row.failure = attempt.failure;
    add_steady_metrics(attempt, what, row);
    if (attempt.status == Status::kOk && !row.metrics.contains(file.primary_metric)) {
      fail("{}: '{}' has no time", what, attempt.benchmark);
    }
    row.fidelity.emplace().status = Fidelity::kNotApplicable;
    row.fidelity->oracle = fmt::format("none: imported from {}, nothing was checked", file.tool);
    auto& p = row.provenance;
    p.time_start = utc_iso8601(time_ns);
    p.mode = "imported";
    p.commit = known(commit);
    p.branch = known(file.branch);
    p.dirty = file.dirty;
    p.isolation = known(file.isolation);
    p.primary_metric = file.primary_metric;
    p.interleaved = false;
    (p.versions.emplace())[file.tool] = file.version.empty() ? "not stated" : file.version;
    auto& import = p.import.emplace();
    import.tool = file.tool;
    import.file = what;
    import.file_sha256 = hash;
    import.benchmark = attempt.benchmark;
    import.time_from = !file.unix_ns       ? "the file's date of modification"
                       : !file.zone_stated ? "the file, without a zone: taken for UTC"
                                           : "the file";
    import.details = attempt.details;
    if (!attempt.steady_time_is.empty()) {
      import.steady_time_is = "the tool's " + attempt.steady_time_is;
    }
    // Whatever the file held: only what is a row goes on.
    rows.push_back(row_from_json(row_to_json(row), what));
    attempt = {};  // the samples of a large file are held once
  }
  return rows;
}

std::optional<std::int64_t> parse_time(std::string_view text, bool& zone) {
  using namespace std::chrono;
  const std::string copy(text);
  int y = 0, mon = 0, d = 0, h = 0, min = 0, s = 0, used = 0;
  char separator = 0;
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2d%c%2d:%2d:%2d%n", &y, &mon, &d, &separator, &h, &min,
                  &s, &used) != 7) {
    return std::nullopt;
  }
  const year_month_day date(year{y}, month{static_cast<unsigned>(mon)},
                            day{static_cast<unsigned>(d)});
  const bool in_range = h >= 0 && h < 24 && min >= 0 && min < 60 && s >= 0 && s <= 60;
  if ((separator != 'T' && separator != ' ') || !date.ok() || y < 1970 || y > 2200 || !in_range) {
    return std::nullopt;
  }
  std::string_view rest = std::string_view(copy).substr(static_cast<std::size_t>(used));
  std::int64_t fraction_ns = 0;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    std::int64_t unit = 100'000'000;
    for (; !rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0;
         rest.remove_prefix(1), unit /= 10) {
      fraction_ns += unit * (rest.front() - '0');
    }
  }
  int offset_min = 0;
  zone = !rest.empty();
  if (!rest.empty() && rest != "Z") {
    char sign = 0;
    int oh = 0, om = 0;
    const std::string offset(rest);
    if (std::sscanf(offset.c_str(), "%c%2d:%2d", &sign, &oh, &om) != 3 &&
        std::sscanf(offset.c_str(), "%c%2d%2d", &sign, &oh, &om) != 3) {
      return std::nullopt;
    }
    if (sign != '+' && sign != '-') return std::nullopt;
    offset_min = (sign == '-' ? -1 : 1) * (60 * oh + om);
  }
  const auto days = sys_days(date).time_since_epoch();
  const auto seconds_since =
      duration_cast<seconds>(days).count() + 3600 * h + 60 * (min - offset_min) + s;
  return seconds_since * 1'000'000'000 + fraction_ns;
}

}  // namespace assay::lab
