// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/columns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "lab/testing/example_rows.h"
#include "lab/testing/many_rows.h"

namespace assay::lab {
namespace {

// What becomes of a line: its columns, or what is said against it.
template <typename Read>
std::string outcome(Read read) {
  try {
    std::string text;
    for (const auto& column : Columns(read())) {
      std::visit([&](const auto& value) { text += fmt::format("{}\n", value); }, column);
    }
    return text;
  } catch (const UserError& error) {
    return error.what();
  }
}

// Whether the columns were had quickly; they are those of the line's row.
bool is_quick(const std::string& line) {
  const auto wanted = outcome([&] { return columns_of(row_from_line(line, "j:1")); });
  EXPECT_EQ(outcome([&] { return columns_of_line(line, [] { return "j:1"; }); }), wanted) << line;
  return quick_columns(line).has_value();
}

std::vector<Row> all_kinds() {
  auto rows = testing_rows::example_history();
  const auto more = testing_rows::many_rows({.rows = 500, .runs = 2});
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

TEST(Columns, OfALineAreThoseOfItsRow) {
  int quick = 0, escaped = 0;
  for (const auto& row : all_kinds()) {
    const auto line = row_to_line(row);
    quick += is_quick(line);
    escaped += line.find("\\u") != line.npos;
  }
  EXPECT_EQ(quick + escaped, std::ssize(all_kinds()));
  EXPECT_GT(quick, 400);
}

TEST(Columns, EveryMemberIsLookedAt) {
  const auto rows = all_kinds();
  for (const auto& row : {rows.front(), rows.back()}) {
    const auto whole = row_to_json(row);
    const auto with = [&](auto&& change) {
      auto json = whole;
      change(json);
      is_quick(testing_rows::checked_line(canonical_json(json)));
    };
    for (const auto& [key, value] : whole.items()) {
      with([&](Json& json) { json.erase(key); });
      for (const Json& other :
           {Json(), Json(1), Json(-1), Json(1.5), Json(true), Json("nan"),
            Json(std::int64_t{1} << 40), Json(~std::uint64_t{0}), Json::array(),
            Json::array({Json::object()}), Json::object(), Json{{"status", "fail"}},
            Json{{"fingerprint", 7}, {"isolation", nullptr}},
            Json{{"a", "nan"}, {"b", "-inf"}, {"c", "infinite"}}, Json{{"a", nullptr}}}) {
        with([&](Json& json) { json[key] = other; });
      }
    }
    for (const char* status : {"ok", "failed", "great"}) {
      with([&](Json& json) { json["status"] = status; });
    }
    with([&](Json& json) { json["later"] = {{"x", 1}}; });
  }
}

TEST(Columns, WhatIsNotAsWeWriteItIsReadAllTheSame) {
  const auto text = testing_rows::unchecked_text(row_to_line(testing_rows::example_row({})));
  const auto with = [&](std::string_view what, std::string_view by) {
    auto changed = text;
    const auto at = changed.find(what);
    EXPECT_NE(at, changed.npos) << what;
    return testing_rows::checked_line(changed.replace(at, what.size(), by));
  };
  EXPECT_TRUE(is_quick(with("\"try\":0", "\"try\" : 0")));
  EXPECT_TRUE(is_quick(with("\"suite\":\"", "\"suite\":\"\\n\u00fc")));
  EXPECT_FALSE(is_quick(with("\"suite\":\"", "\"suite\":\"\\u0000")));
  EXPECT_FALSE(is_quick(with("\"try\":0", "\"try\":0,\"try\":1")));
  EXPECT_FALSE(is_quick(with("\"try\":0", "\"try\":0,\"provider\":\"other\"")));
  EXPECT_FALSE(is_quick(with("\"fingerprint\":", "\"fingerprint\":\"x\",\"fingerprint\":")));
  EXPECT_FALSE(is_quick(with("\"isolation\":", "\"isolation\":\"x\",\"isolation\":")));
  EXPECT_FALSE(is_quick(testing_rows::checked_line("[]")));
  EXPECT_FALSE(is_quick(text));  // no check
  EXPECT_FALSE(is_quick(""));
}

TEST(Columns, LinesThatWereSpoilt) {
  std::mt19937 random(1);
  constexpr std::string_view kPieces = "{}[]\",:\\0123456789.eE+-tfn \x80\xc3\xa9\xf0/u";
  std::vector<std::string> texts;
  for (const auto& row : testing_rows::example_rounds(2, 0.5))
    texts.push_back(testing_rows::unchecked_text(row_to_line(row)));
  int quick = 0, tries = 5000;
  for (int i = 0; i < tries; ++i) {
    auto text = texts[random() % texts.size()];
    for (auto left = 1 + random() % 3; left > 0; --left) {
      const auto at = random() % (text.size() - 1);
      if (random() % 2 == 0) {
        text[at] = kPieces[random() % kPieces.size()];
      } else {
        text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
    }
    quick += is_quick(testing_rows::checked_line(text));
  }
  EXPECT_GT(quick, 100);
  EXPECT_LT(quick, tries - 100);
}

}  // namespace
}  // namespace assay::lab
