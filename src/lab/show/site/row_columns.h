// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows as a page can hold them: one column for each leaf of their JSON, which compresses well and
// is quickly parsed.

#include <span>

#include "base/json.h"
#include "lab/record/row.h"

namespace assay::lab {

// {count, columns: [[path, values], …]} with paths such as ["point", "n"] or ["provenance",
// "noise", "before", "load"], in the order of their first row, and a value for each row, null: the
// row has none; nulls at the end may be missing. A leaf is a number, text, a truth value, null, an
// empty object, or an array, whole. Numbers that are not whole are rounded to seven digits: they
// are there to be drawn and compared by eye.
Json row_columns(std::span<const Row> rows);

}  // namespace assay::lab
