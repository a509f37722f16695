// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/postgres_connection.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "lab/store/postgres_url.h"
#include "lab/store/shown_source.h"

namespace assay::lab {
namespace {

std::string one_line_of(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::int64_t number_of(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string field_of(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? "" : text;
}

class Parameters {
 public:
  explicit Parameters(std::span<const SqlValue> values) {
    for (const auto& value : values) texts_.push_back(text_of(value));
    for (const auto& text : texts_) pointers_.push_back(text.c_str());
  }
  int count() const { return static_cast<int>(pointers_.size()); }
  const char* const* texts() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;
};

}  // namespace

std::string_view PostgresResult::text(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t PostgresResult::number(int row, int column) const {
  return number_of(text(row, column));
}

std::int64_t PostgresResult::changed() const { return number_of(PQcmdTuples(result_.get())); }

PostgresConnection::PostgresConnection(const std::string& url) : name_(shown_source(url)) {
  check_postgres_url(url);
  url_ = connection_url(url);
  reconnect();
}

void PostgresConnection::reconnect() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kPatienceSeconds);
  for (;;) {
    session_.reset(PQconnectdb(url_.c_str()));
    if (!is_lost()) break;
    // A server that is there, but not ready, is asked again.
    const bool is_starting = PQping(url_.c_str()) == PQPING_REJECT;
    if (!is_starting || std::chrono::steady_clock::now() > end) raise_lost();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  PQsetNoticeProcessor(
      session_.get(), [](void*, const char*) {}, nullptr);
}

PostgresResult PostgresConnection::execute(const std::string& sql) {
  return checked(PQexec(session_.get(), sql.c_str()));
}

PostgresResult PostgresConnection::execute(const std::string& sql,
                                           std::span<const SqlValue> values) {
  const Parameters parameters(values);
  return checked(PQexecParams(session_.get(), sql.c_str(), parameters.count(), nullptr,
                              parameters.texts(), nullptr, nullptr, 0));
}

void PostgresConnection::visit(const std::string& sql, std::span<const SqlValue> values,
                               const RowVisitor& visitor) {
  const Parameters parameters(values);
  if (PQsendQueryParams(session_.get(), sql.c_str(), parameters.count(), nullptr,
                        parameters.texts(), nullptr, nullptr, 0) != 1) {
    raise_lost();
  }
  PQsetSingleRowMode(session_.get());
  for (;;) {
    const auto row = checked(PQgetResult(session_.get()), PGRES_SINGLE_TUPLE);
    if (row.rows() == 0) break;  // what ends them
    try {
      visitor(row);
    } catch (...) {
      give_up_answer();
      throw;
    }
  }
  PQclear(PQgetResult(session_.get()));  // there is none: the session may be used again
}

// The server is told that nobody waits for the rest.
void PostgresConnection::give_up_answer() noexcept {
  std::array<char, 256> error{};
  const std::unique_ptr<PGcancel, decltype(&PQfreeCancel)> cancel(PQgetCancel(session_.get()),
                                                                  &PQfreeCancel);
  if (cancel != nullptr) PQcancel(cancel.get(), error.data(), static_cast<int>(error.size()));
  while (PGresult* more = PQgetResult(session_.get())) PQclear(more);
}

void PostgresConnection::begin_copy(const std::string& sql) {
  checked(PQexec(session_.get(), sql.c_str()), PGRES_COPY_IN);
}

void PostgresConnection::copy(std::string_view bytes) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kMost, bytes.size()))) {
    const auto size = static_cast<int>(std::min(kMost, bytes.size()));
    if (PQputCopyData(session_.get(), bytes.data(), size) != 1) raise_lost();
  }
}

void PostgresConnection::end_copy() {
  if (PQputCopyEnd(session_.get(), nullptr) != 1) raise_lost();
  checked(PQgetResult(session_.get()));
  PQclear(PQgetResult(session_.get()));  // there is none: the session may be used again
}

PostgresResult PostgresConnection::checked(PGresult* result, ExecStatusType other) const {
  if (result == nullptr) raise_lost();
  PostgresResult answer(result);
  const auto status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != other) raise(result);
  return answer;
}

void PostgresConnection::raise_lost() const {
  fail("the store's server cannot be reached, or was lost ({}): '{}'",
       one_line_of(PQerrorMessage(session_.get())), name_);
}

void PostgresConnection::raise(const PGresult* refusal) const {
  const auto state = field_of(refusal, PG_DIAG_SQLSTATE);
  if (is_lost() || state.starts_with("57P")) raise_lost();  // 57P: it shuts down, or ended us
  auto text = one_line_of(field_of(refusal, PG_DIAG_MESSAGE_PRIMARY));
  if (text.empty()) text = one_line_of(PQerrorMessage(session_.get()));
  if (const auto detail = field_of(refusal, PG_DIAG_MESSAGE_DETAIL); !detail.empty()) {
    text += "; " + one_line_of(detail);
  }
  if (state == "55P03") {
    fail("another program kept the store busy for {} s: '{}'", kPatienceSeconds, name_);
  }
  if (state == "25006") fail("the store is read-only and cannot be changed: '{}'", name_);
  if (state == "53100") fail("the store cannot be written, the disk is full: '{}'", name_);
  if (state == "XX001" || state == "XX002") fail("the store is damaged ({}): '{}'", text, name_);
  fail("the store cannot be used ({}): '{}'", text, name_);
}

std::string postgres_array(std::span<const std::string> texts) {
  std::string array = "{";
  for (const auto& text : texts) {
    array += array.size() == 1 ? "\"" : ",\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') array += '\\';
      array += c;
    }
    array += '"';
  }
  return array + "}";
}

}  // namespace assay::lab
