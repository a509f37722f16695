// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/row_columns.h"

#include <gtest/gtest.h>

#include <functional>

#include "lab/testing/many_rows.h"

namespace assay::lab {
namespace {

using testing_rows::many_rows;

// Every leaf of a row's JSON by its path, which is what a page can ask for.
using Leaves = std::map<std::vector<std::string>, Json>;

Leaves leaves_of(const Json& json) {
  Leaves leaves;
  std::vector<std::string> path;
  const std::function<void(const Json&)> walk = [&](const Json& value) {
    if (value.is_object() && !value.empty()) {
      for (const auto& [key, member] : value.items()) {
        path.push_back(key);
        walk(member);
        path.pop_back();
      }
    } else {
      leaves[path] = value;
    }
  };
  walk(json);
  return leaves;
}

// The other direction, as the page does it.
std::vector<Leaves> decode(const Json& columns) {
  const auto count = columns.at("count").get<std::size_t>();
  std::vector<Leaves> rows(count);
  for (const auto& column : columns.at("columns")) {
    const auto path = column[0].get<std::vector<std::string>>();
    const Json& encoding = column[1];
    std::vector<int> at;
    if (encoding.contains("at")) at = encoding["at"].get<std::vector<int>>();
    if (encoding.contains("runs")) {
      for (std::size_t i = 0; i < encoding["runs"].size(); i += 2) {
        at.insert(at.end(), encoding["runs"][i].get<std::size_t>(), encoding["runs"][i + 1]);
      }
    }
    if (encoding.contains("of")) {
      EXPECT_EQ(at.size(), count) << column[0];
    }
    if (encoding.contains("values")) {
      EXPECT_EQ(encoding["values"].size(), count) << column[0];
    }
    for (std::size_t row = 0; row < count; ++row) {
      if (encoding.contains("is")) {
        rows[row][path] = encoding["is"];
      } else if (encoding.contains("values")) {
        if (!encoding["values"][row].is_null()) rows[row][path] = encoding["values"][row];
      } else if (at.at(row) >= 0) {
        rows[row][path] = encoding["of"].at(static_cast<std::size_t>(at[row]));
      }
    }
  }
  return rows;
}

void expect_same(const std::vector<Row>& rows) {
  const auto decoded = decode(row_columns(rows));
  ASSERT_EQ(decoded.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& [path, value] : leaves_of(row_to_json(rows[i]))) {
      const auto found = decoded[i].find(path);
      if (found == decoded[i].end()) {
        EXPECT_TRUE(value.is_null()) << i << " " << Json(path);  // null may be left out
      } else if (value.is_number_float()) {
        // Seven digits: half a unit of the seventh is at most 5e-7 of the value.
        EXPECT_NEAR(found->second.get<double>(), value.get<double>(),
                    5e-7 * std::abs(value.get<double>()))
            << Json(path);
      } else if (!value.is_array()) {
        EXPECT_EQ(found->second, value) << Json(path);
      }
    }
  }
}

TEST(RowColumns, HoldWhatRowsHold) { expect_same(many_rows({.rows = 700, .runs = 3})); }

TEST(RowColumns, OfNothingAndOfOneRow) {
  EXPECT_EQ(row_columns({}), (Json{{"count", 0}, {"columns", Json::array()}}));
  expect_same({many_rows({.rows = 60, .runs = 1}).front()});
}

TEST(RowColumns, RowsThatDifferInShape) {
  auto rows = many_rows({.rows = 60, .runs = 1, .hostile = false});
  rows.resize(6);
  rows[1].provenance = {};
  rows[2].provenance =
      provenance_from_json(Json{{"noise", 5}});  // a number where others have an object
  rows[3].machine.gpus = {"a", "b"};
  rows[4].metrics["steady_time"] = NAN;
  rows[5].unknown = {{"later", {{"x", 1}}}};
  const auto decoded = decode(row_columns(rows));
  EXPECT_EQ(decoded[2].at({"provenance", "noise"}), 5);
  EXPECT_EQ(decoded[3].at({"machine", "gpus"}), (Json{"a", "b"}));
  EXPECT_EQ(decoded[4].at({"metrics", "steady_time"}), "nan");
  EXPECT_EQ(decoded[5].at({"later", "x"}), 1);
  EXPECT_FALSE(decoded[0].contains({"later", "x"}));
}

TEST(RowColumns, KeepWhatIsInCommonOnce) {
  const auto rows = many_rows({.rows = 600, .runs = 2, .hostile = false});
  std::map<std::string, Json> by_name;
  const Json columns = row_columns(rows);
  for (const auto& column : columns["columns"]) {
    by_name[column[0].back().get<std::string>()] = column[1];
  }
  EXPECT_EQ(by_name.at("assay_version"), (Json{{"is", "0.1.0"}}));
  EXPECT_EQ(by_name.at("commit").at("runs").size(), 4u);  // two runs: two lengths, two indexes
  EXPECT_TRUE(by_name.at("time_start").contains("values"));
}

}  // namespace
}  // namespace assay::lab
