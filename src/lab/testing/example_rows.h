// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one maker of rows for tests, as full as the runner writes them, and golden files.

#include <string>
#include <string_view>
#include <vector>

#include "lab/record/row.h"

namespace assay::lab::testing_rows {

inline constexpr const char* kRun = "20260101T120000.000000Z-abc1234";

struct Spec {
  std::string provider = "naive";
  double time = 1e-3;
  int round = 0;
  std::string run_id = kRun;
  std::string commit = "abc1234def5678";
  std::string case_name = "semiring_matmul";
  int n = 64;
  Status status = Status::kOk;
  std::string code = {};  // of the failure
  int try_number = 0;
  std::string platform = "cpu";
  std::string fingerprint = "0123456789abcdef";
  int cores = 2;
  std::string isolation = "process";
  int order = -1;  // −1: 10·round + try
};

Row example_row(const Spec& spec);

// `rounds` rounds of "naive" (the baseline, about 1 ms) and of "simd", whose time is `ratio` of it
// to within ± 1 %. Every time is a simple function of the round: no random numbers in golden files.
std::vector<Row> example_rounds(int rounds, double ratio, const Spec& common = {});

// A whole history: two cases, two points, two machines, failures of all kinds.
std::vector<Row> example_history();

// A run of `rounds` rounds of two providers at one point, in order.
std::vector<Row> example_run(const std::string& run_id, int rounds, int n = 64);

// The text of a journal with these rows, and its lines.
std::string journal_text(const std::vector<Row>& rows);
std::vector<std::string> lines_of(const std::vector<Row>& rows);

// The line of a text that holds a row in braces, whatever else is wrong with it: its check holds.
std::string checked_line(std::string text);
// That text of a line.
std::string unchecked_text(const std::string& line);

// A text's lines, without their ends.
std::vector<std::string> lines_of(const std::string& text);

// Compares with FOLDER/NAME. With ASSAY_APPROVE=1 in the environment the file is written instead.
void expect_golden(std::string_view folder, std::string_view name, const std::string& text);

}  // namespace assay::lab::testing_rows
