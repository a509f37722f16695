// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lab/store/postgres_connection.h"

namespace assay::lab {

// Brings rows into a table by COPY in PostgreSQL's binary form: a server reads it in less time than
// text, and nothing is escaped. A number is a column of type bigint, a text one of type text.
// Without complete() the next statement is refused, and the transaction can only be rolled back.
class PostgresCopy {
 public:
  PostgresCopy(PostgresConnection& db, std::string_view table,
               std::span<const char* const> columns);

  void begin_row();
  void add(std::int64_t number);
  void add(std::string_view text);
  void add(const SqlValue& value);

  void complete();

 private:
  void flush();

  PostgresConnection& db_;
  const std::int16_t columns_;
  std::string bytes_;  // that the server does not have yet
};

}  // namespace assay::lab
