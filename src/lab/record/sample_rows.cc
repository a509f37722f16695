// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/sample_rows.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/philox.h"

namespace assay::lab {

RowSample sample_rows(std::int64_t rows, double cost_per_row, double budget, std::int64_t least,
                      std::int64_t seed) {
  RowSample sample;
  const double affordable = cost_per_row > 0 ? budget / cost_per_row : static_cast<double>(rows);
  if (affordable >= static_cast<double>(rows) || rows <= least) {
    sample.rows.resize(static_cast<std::size_t>(rows));
    std::iota(sample.rows.begin(), sample.rows.end(), 0);
    return sample;
  }
  const auto wanted = static_cast<std::size_t>(std::max(static_cast<double>(least), affordable));
  const Philox stream(static_cast<std::uint64_t>(seed), stream_key("rows"));
  std::set<std::int64_t> chosen = {0, rows - 1};
  for (std::uint64_t i = 0; chosen.size() < wanted; ++i) {
    chosen.insert(
        static_cast<std::int64_t>(uniform_below(stream[i], static_cast<std::uint64_t>(rows))));
  }
  sample.rows.assign(chosen.begin(), chosen.end());
  sample.seed = seed;
  return sample;
}

}  // namespace assay::lab
