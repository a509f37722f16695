// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json_order.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/json.h"

namespace assay {
namespace {

TEST(JsonOrder, IsOneOrderOfAllValues) {
  // Each is less than the next; those of one line are equal.
  const std::vector<std::vector<Json>> values = {{nullptr},
                                                 {false},
                                                 {true},
                                                 {-1e300},
                                                 {std::int64_t{-9223372036854775807}},
                                                 {-1, -1.0},
                                                 {0, 0.0, -0.0, 0u},
                                                 {5e-324},
                                                 {64, 64.0, 64u},
                                                 {512},
                                                 {9007199254740992, 9007199254740992.0},
                                                 {9007199254740993},
                                                 {18446744073709551615u},
                                                 {18446744073709551616.0},
                                                 {Json::object()},
                                                 {{{"a", 1}, {"b", 2}}, {{"a", 1.0}, {"b", 2}}},
                                                 {{{"a", 1}, {"b", 2}, {"c", 0}}},
                                                 {{{"a", 2}}},
                                                 {{{"b", 0}}},
                                                 {Json::array()},
                                                 {Json::array({1, 2})},
                                                 {Json::array({1, 2, 0})},
                                                 {Json::array({2})},
                                                 {""},
                                                 {"a"},
                                                 {"b"}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      for (const auto& a : values[i]) {
        for (const auto& b : values[j])
          EXPECT_TRUE(json_order(a, b) == (i <=> j)) << canonical_json(a) << canonical_json(b);
      }
    }
  }
}

}  // namespace
}  // namespace assay
