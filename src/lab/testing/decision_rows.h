// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows for the tests of decisions: times are simple functions of the round.

#include <cmath>
#include <string>
#include <vector>

#include "lab/testing/example_rows.h"

namespace assay::lab::testing_rows {

struct RowSpec {
  std::string provider = "simd";
  double time = 1e-3;
  int round = 0;
  std::string run_id = "20260101T000000.000000Z-aaaaaaa";
  std::string commit = "aaaaaaa";
  Status status = Status::kOk;
  std::string case_name = "matmul";
  int n = 64;
  std::string fingerprint = "0123456789abcdef";
  int cores = 2;
  std::string isolation = "process";
  std::string platform = "cpu";
};

inline Row make_row(const RowSpec& spec) {
  Row row = example_row({.provider = spec.provider,
                         .time = spec.time,
                         .round = spec.round,
                         .run_id = spec.run_id,
                         .commit = spec.commit,
                         .case_name = spec.case_name,
                         .n = spec.n,
                         .status = spec.status,
                         .code = "value",
                         .platform = spec.platform,
                         .fingerprint = spec.fingerprint,
                         .cores = spec.cores,
                         .isolation = spec.isolation,
                         .order = spec.round});
  row.point = {{"n", spec.n}, {"dtype", "f32"}, {"seed", 0}};
  row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, row.platform, row.cores,
                                   row.round, 0);
  if (row.failure) row.failure->message = "off by 3 tolerances";
  row.provenance.mode = "standard";
  row.samples = {};  // their quantiles stand for them
  return row;
}

// Scatter of about ± 0.5 % whose median is 1, without random numbers.
inline double jitter(int round) { return 1 + 0.005 * std::sin(2.4 * round + 0.3); }

inline std::vector<Row> make_rounds(int rounds, RowSpec spec) {
  std::vector<Row> rows;
  const double time = spec.time;
  for (int round = 0; round < rounds; ++round) {
    spec.round = round;
    spec.time = time * jitter(round + static_cast<int>(spec.provider.size()));
    rows.push_back(make_row(spec));
  }
  return rows;
}

inline void append(std::vector<Row>& rows, const std::vector<Row>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

inline const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> kNames = {"<script>alert(1)</script>",
                                                  "a\"b'c|d`e",
                                                  "\xE2\x80\xAE"
                                                  "gnp.exe",
                                                  "line\nbreak\x1b[2J",
                                                  std::string("nul\0!", 5),
                                                  "\xff\xfe",
                                                  std::string(10'000, 'x')};
  return kNames;
}

}  // namespace assay::lab::testing_rows
