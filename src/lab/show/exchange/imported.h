// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the files of other benchmark tools have in common, and how it becomes rows.
//
// The obvious mapping, one row for each number, would make ten repetitions inside one process look
// like ten attempts. An attempt is a fresh process: hyperfine's and pyperf's repetitions are rows,
// those of Google Benchmark, pytest-benchmark and nvbench are samples of one row.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "lab/record/row.h"

namespace assay::lab {

struct ImportedAttempt {
  std::string benchmark;  // its name in the file
  Json point = Json::object();
  int threads = 0;                // 0: the file does not say
  std::vector<double> samples_s;  // one call, in seconds, for each repetition
  std::int64_t batch_calls = 0;   // calls behind each sample; 0: not known
  // Where the file has no raw values: the tool's own figure, and which of them it is.
  std::optional<double> steady_time_s;
  std::string steady_time_is;             // "median", "mean"
  std::map<std::string, double> metrics;  // others of our registry that the file gives
  std::optional<Failure> failure;
  Status status = Status::kOk;    // not ok iff there is a failure
  Json details = Json::object();  // what has no place in a row: counters, options
};

// Fresh processes of one benchmark, a row each: that is what their times are evidence of. Where a
// file has more of them than views can look at (hyperfine makes thousands of a short command),
// consecutive ones that ended alike share a row, whose samples they are: its value is their median,
// and rows are as independent of each other as processes are.
class ProcessRows {
 public:
  // `rows` bounds how many rows there are of one benchmark and status; `count` processes are to
  // come.
  ProcessRows(std::vector<ImportedAttempt>& out, std::size_t count, std::size_t rows);
  // The next process, with its samples. Of a block the first one's details and failure are kept,
  // and the largest of each metric.
  void add(ImportedAttempt process);
  // The last rows, which may be of fewer processes.
  void finish();

 private:
  void close(ImportedAttempt& block, std::size_t count);

  struct Block {
    ImportedAttempt attempt;
    std::size_t count = 0;
  };
  std::vector<ImportedAttempt>& out_;
  std::size_t per_row_;
  std::map<Status, Block> open_;
};
// How many rows each of that many benchmarks may have. Throws UserError naming the file where there
// are too many benchmarks for any.
std::size_t rows_of_each(std::size_t benchmarks, std::string_view what);

struct ImportedFile {
  std::string tool;      // "google-benchmark"
  std::string version;   // of the tool, or of its format; empty: the file does not say
  std::string provider;  // what was measured, as far as the file tells: an executable
  std::string platform = "cpu";
  std::string isolation;  // "process" where each attempt had its own, else "in-process"
  std::optional<std::int64_t> unix_ns;  // when it was measured
  bool zone_stated = true;              // false: a local time, taken for UTC
  Json hardware = Json::object();       // facts that tell machines apart; empty: none in the file
  Json host = Json::object();           // facts beside them, with row.machine's names where known
  std::string commit, branch;           // of the measured tree; empty: not known
  std::optional<bool> dirty;
  std::string primary_metric = "steady_time";
  std::vector<ImportedAttempt> attempts;
};

struct ImportOptions {
  std::string file_name;  // as it is kept in the rows and used in errors
  std::string suite = "imported";
  // Empty: the benchmark's name is the case. Otherwise that is the case, and the benchmark's name
  // becomes the provider, so that the benchmarks of a file can be compared.
  std::string case_name;
  std::string provider;           // empty: what the file says (or, with case_name, the benchmark)
  std::string commit;             // empty: what the file says
  std::int64_t file_time_ns = 0;  // used where the file states no time
  Json machine;                   // null: made from what the file says; else a row's machine
};

// The rows of a file, in its order, all of one run. Attempts of the same case, point and provider
// are numbered as rounds, but rounds of different providers were not interleaved:
// provenance.interleaved is false, and nothing may pair them.
//
// The fingerprint hashes what the file says of the hardware; where it says nothing, it hashes the
// file (`hash`: SHA-256 of its bytes), so that its rows can be compared among themselves only.
// Throws UserError naming the file when it holds no attempt, or a time that is not positive and
// finite.
std::vector<Row> imported_rows(ImportedFile file, const std::string& hash,
                               const ImportOptions& options);

// "2026-01-31T23:59:59.5+01:00", with a blank for the T, without a zone (then UTC, and `zone` is
// set to false), as nanoseconds since the epoch. Nothing for any other text.
std::optional<std::int64_t> parse_time(std::string_view text, bool& zone);

}  // namespace assay::lab
