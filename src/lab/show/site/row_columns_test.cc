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
  std::vector<Leaves> rows(columns.at("count").get<std::size_t>());
  for (const auto& column : columns.at("columns")) {
    const auto path = column[0].get<std::vector<std::string>>();
    EXPECT_LE(column[1].size(), rows.size()) << column[0];
    for (std::size_t row = 0; row < column[1].size(); ++row) {
      if (!column[1][row].is_null()) rows[row][path] = column[1][row];
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

}  // namespace
}  // namespace assay::lab
