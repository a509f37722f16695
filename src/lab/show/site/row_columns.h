// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows as a page can hold them: one column for each leaf of their JSON, so that what ten thousand
// rows have in common is there once.

#include <span>

#include "base/json.h"
#include "lab/record/row.h"

namespace assay::lab {

// {count, columns: [[path, encoding], …]} with paths such as ["point", "n"] or ["provenance",
// "noise", "before", "load"], in the order of their first row. An encoding is one of
//   {"is": value}                    every row has this value
//   {"of": [values], "at": [index]}  one index for each row into the values, −1: the row has none
//   {"of": [values], "runs": [length, index, …]}  the same, equal neighbours counted
//   {"values": [value]}              one for each row, null: the row has none
// A leaf is a number, text, a truth value, null, an empty object, or an array, whole. Numbers that
// are not whole are rounded to seven digits: they are there to be drawn and compared by eye.
Json row_columns(std::span<const Row> rows);

}  // namespace assay::lab
