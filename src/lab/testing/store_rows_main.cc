// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// store_rows FOLDER RUNS SERIES ROUNDS [FIRST]: a journal for each run, each with so many rounds of
// every series. FIRST numbers the runs: other numbers, other runs.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "lab/testing/example_rows.h"

int main(int argc, char** argv) try {
  using namespace assay;
  if (argc < 5) fail("usage: store_rows FOLDER RUNS SERIES ROUNDS [FIRST]");
  const int runs = std::stoi(argv[2]), series = std::stoi(argv[3]), rounds = std::stoi(argv[4]);
  const int first = argc > 5 ? std::stoi(argv[5]) : 0;
  make_directories(argv[1]);
  for (int run = first; run < first + runs; ++run) {
    const auto run_id = fmt::format("20260101T120000.{:06}Z-abc1234", run);
    std::string text;
    for (int i = 0; i < series * rounds; ++i) {
      const int of = i % series, round = i / series;
      const auto row =
          lab::testing_rows::example_row({.provider = of % 2 == 0 ? "naive" : "simd",
                                          .time = 1e-3 * (1 + 0.01 * (round + run % 7)),
                                          .round = round,
                                          .run_id = run_id,
                                          .n = 16 + of / 2,
                                          .order = i});
      text += lab::row_to_line(row) + "\n";
    }
    write_file_atomically(fmt::format("{}/{}.jsonl", argv[1], run_id), text);
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "store_rows: %s\n", e.what());
  return 1;
}
