// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/database.h"

#include "base/error.h"

namespace assay::lab {

std::string text_of(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : fmt::format("{}", std::get<std::int64_t>(value));
}

std::int64_t Database::number(const std::string& sql) {
  std::optional<std::int64_t> value;
  query(sql, {}, [&](const Record& row) { value = row.number(0); });
  check(value.has_value(), "a query for one number has a row");
  return *value;
}

}  // namespace assay::lab
