// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows for the tests of the store: as full as the runner writes them, about 2 kB a line.

#include <string>
#include <vector>

#include "lab/record/row.h"

namespace assay::lab::store_testing {

struct Spec {
  std::string run_id = "20260101T000000.000000Z-abc1234";
  std::string provider = "naive";
  int n = 64;
  int round = 0;
  int order = 0;
  Status status = Status::kOk;
  std::string fingerprint = "0123456789abcdef";
};

Row example_row(const Spec& spec);

// A run of `rounds` rounds of two providers at one point, in order.
std::vector<Row> example_run(const std::string& run_id, int rounds, int n = 64);

// The text of a journal with these rows.
std::string journal_text(const std::vector<Row>& rows);
std::vector<std::string> lines_of(const std::vector<Row>& rows);

}  // namespace assay::lab::store_testing
