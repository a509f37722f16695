// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/latest.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "lab/beside/place.h"

namespace assay::lab {
std::vector<Row> latest_rows(std::vector<Row> rows) {
  // Per key the best run: one that says something before one that does not, then the newer.
  std::map<SeriesId, std::pair<bool, std::string>> best;
  for (const auto& row : rows) {
    auto& chosen = best[series_of(row)];
    chosen = std::max(chosen, {!is_void(row.status), row.run_id});
  }
  std::erase_if(rows, [&](const Row& row) { return best[series_of(row)].second != row.run_id; });
  return rows;
}

}  // namespace assay::lab
