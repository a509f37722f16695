// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/latest.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/json.h"

namespace assay::lab {
namespace {

using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, int>;

Key key_of(const Row& row) {
  return {row.case_name, canonical_json(row.point), row.provider,
          row.platform,  row.machine.fingerprint,   row.cores};
}

}  // namespace

std::vector<Row> latest_rows(std::vector<Row> rows) {
  // Per key the best run: one that says something before one that does not, then the newer.
  std::map<Key, std::pair<bool, std::string>> best;
  for (const auto& row : rows) {
    auto& chosen = best[key_of(row)];
    chosen = std::max(chosen, {!is_void(row.status), row.run_id});
  }
  std::erase_if(rows, [&](const Row& row) { return best[key_of(row)].second != row.run_id; });
  return rows;
}

}  // namespace assay::lab
