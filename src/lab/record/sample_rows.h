// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace assay::lab {

// Which rows of an output an oracle computes.
struct RowSample {
  std::vector<std::int64_t> rows;    // ascending
  std::optional<std::int64_t> seed;  // absent when it is all of them
};

// All rows if they cost at most `budget` in units of `cost_per_row`, else as many as that pays for
// (at least `least`, or all), drawn without repeats; the first and the last row are always among
// them, since that is where kernels go wrong.
RowSample sample_rows(std::int64_t rows, double cost_per_row, double budget, std::int64_t least,
                      std::int64_t seed);

}  // namespace assay::lab
