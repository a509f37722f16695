// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/postgres_copy.h"

#include <fmt/ranges.h>

#include <type_traits>
#include <utility>

#include "base/error.h"

namespace assay::lab {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kBytesAtOnce = std::size_t{64} << 10;
// The signature, no flags, no extension.
constexpr auto kHeader = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0"sv;
constexpr std::int16_t kTrailer = -1;

// In the order of bytes that networks have.
template <typename Number>
void append(std::string& bytes, Number number) {
  const auto bits = static_cast<std::make_unsigned_t<Number>>(number);
  for (int shift = 8 * (sizeof(Number) - 1); shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(bits >> shift));
  }
}

}  // namespace

PostgresCopy::PostgresCopy(PostgresConnection& db, std::string_view table,
                           std::span<const char* const> columns)
    : db_(db), columns_(static_cast<std::int16_t>(columns.size())), bytes_(kHeader) {
  db_.begin_copy(
      fmt::format("COPY {} ({}) FROM STDIN (FORMAT binary)", table, fmt::join(columns, ", ")));
}

void PostgresCopy::begin_row() {
  if (bytes_.size() >= kBytesAtOnce) flush();
  append(bytes_, columns_);
}

void PostgresCopy::add(std::int64_t number) {
  append(bytes_, std::int32_t{sizeof number});
  append(bytes_, number);
}

void PostgresCopy::add(std::string_view text) {
  check(std::in_range<std::int32_t>(text.size()), "the text is one that PostgreSQL can keep");
  append(bytes_, static_cast<std::int32_t>(text.size()));
  bytes_ += text;
}

void PostgresCopy::add(const SqlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    add(*number);
  } else {
    add(std::string_view(std::get<std::string>(value)));
  }
}

void PostgresCopy::complete() {
  append(bytes_, kTrailer);
  flush();
  db_.end_copy();
}

void PostgresCopy::flush() {
  db_.copy(bytes_);
  bytes_.clear();
}

}  // namespace assay::lab
