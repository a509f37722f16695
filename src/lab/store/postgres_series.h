// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lab/store/columns.h"
#include "lab/store/postgres_connection.h"

namespace assay::lab {

// What places of a series share is kept once, in table `series`.
class PostgresSeries {
 public:
  explicit PostgresSeries(PostgresConnection& db) : db_(db) {}

  // The id of each one's series, which is made where it is new. In a write transaction.
  std::vector<std::int64_t> ids_of(std::span<const Columns* const> columns);
  // Another transaction begins: what the last one made may not be there.
  void forget() { known_.clear(); }
  // In a read transaction: keys that do not follow from what they stand for. New rows of such a
  // series would begin another one.
  void inspect(Inspector& inspector);

 private:
  using IdsByKey = std::map<std::string, std::int64_t>;
  IdsByKey stored(const std::vector<std::string>& keys);
  void make(const std::map<std::string, const Columns*>& new_ones);

  PostgresConnection& db_;
  std::unordered_map<std::string, std::int64_t> known_;  // ids, by what the series are
};

}  // namespace assay::lab
