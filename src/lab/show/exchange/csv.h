// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lab/record/row.h"

namespace assay::lab {

// Rows as a table for spreadsheets and data frames, as RFC 4180 has it: a line of titles, one line
// for each row in the order given, CRLF after each, fields with commas or quotes in quotes.
//
// Columns: identity, point (JSON, and `point.KEY` for each of its keys), status, failure, time,
// commit, fidelity, then every metric that any row has, by name. Numbers have the shortest digits
// that read back to the same double; what a row does not have is an empty field. Text is
// printable() (control characters and direction marks spelled out), and text that a spreadsheet
// would take for a formula gets an apostrophe before it.
std::string rows_to_csv(std::span<const Row> rows);

}  // namespace assay::lab
