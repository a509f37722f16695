// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A laboratory's worth of rows for tests of what people look at: several suites, cases, points and
// providers, one provider twice (A/A), runs at two dozen commits on two machines, a step in the
// history, failures of every kind and, where asked for, names that try to break out of a page.

#include <cstdint>
#include <string>
#include <vector>

#include "lab/record/ceilings.h"
#include "lab/record/row.h"

namespace assay::lab::testing_rows {

struct ManyRows {
  int rows = 10'000;  // about: runs are whole
  int runs = 24;
  bool hostile = true;
  std::uint64_t seed = 1;
};

// Ordered by run, then as they were made. A function of its argument.
std::vector<Row> many_rows(const ManyRows& what = {});

// The fingerprints of the two machines, and ceilings that fit the rows' times.
inline constexpr const char* kMachines[] = {"aaaa0123456789ab", "bbbb0123456789ab"};
Ceilings example_ceilings();

// Strings that a page must show as text.
std::vector<std::string> hostile_strings();

}  // namespace assay::lab::testing_rows
