// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Row example_row() {
  Row row;
  row.run_id = "20260131T000000.000001Z-abc1234";
  row.suite = "semiring";
  row.case_name = "semiring_matmul";
  row.point = {{"n", 64}, {"dtype", "f32"}, {"seed", 0}};
  row.provider = "naive";
  row.platform = "cpu";
  row.machine = machine_from_json(Json{{"fingerprint", "00ff"}});
  row.cores = 2;
  row.metrics = {{"steady_time", 1.0 / 3}, {"flop_rate", INFINITY}};
  row.samples = samples_from_json(Json{{"steady_s", {0.1, 0.2}}});
  row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, "cpu", 2, 0, 0);
  return row;
}

TEST(Row, SurvivesARoundTripThroughItsLine) {
  Row row = example_row();
  row.unknown = {{"a_field_of_tomorrow", {1, 2, 3}}};
  const auto line = row_to_line(row);
  EXPECT_THAT(line, testing::MatchesRegex(".*,\"check\":\"[0-9a-f]{8}\"}"));
  const Row back = row_from_line(line, "test");
  EXPECT_EQ(row_to_line(back), line);
  EXPECT_EQ(back.metrics, row.metrics);
  EXPECT_EQ(back.unknown, row.unknown);
}

TEST(Row, EveryTopLevelKeyIsAlwaysPresent) {
  const Json json = row_to_json(Row{});
  for (const char* key :
       {"schema",   "run_id",  "attempt_id", "suite",    "case", "point",     "provider",
        "platform", "machine", "cores",      "round",    "try",  "order",     "status",
        "failure",  "metrics", "samples",    "fidelity", "work", "provenance"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
}

TEST(Row, AnyFlippedBitIsNoticed) {
  const auto line = row_to_line(example_row());
  for (std::size_t i = 0; i < line.size(); ++i) {
    auto damaged = line;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_THROW(row_from_line(damaged, "test"), UserError) << "byte " << i << ": " << damaged;
  }
}

TEST(Row, AttemptIdDependsOnEveryPartOfTheKey) {
  const Json point = {{"n", 1}};
  const auto id = make_attempt_id("c", point, "p", "cpu", 1, 0, 0);
  EXPECT_EQ(id, make_attempt_id("c", Json{{"n", 1}}, "p", "cpu", 1, 0, 0));
  EXPECT_NE(id, make_attempt_id("d", point, "p", "cpu", 1, 0, 0));
  EXPECT_NE(id, make_attempt_id("c", Json{{"n", 2}}, "p", "cpu", 1, 0, 0));
  EXPECT_NE(id, make_attempt_id("c", point, "q", "cpu", 1, 0, 0));
  EXPECT_NE(id, make_attempt_id("c", point, "p", "cuda", 1, 0, 0));
  EXPECT_NE(id, make_attempt_id("c", point, "p", "cpu", 2, 0, 0));
  EXPECT_NE(id, make_attempt_id("c", point, "p", "cpu", 1, 1, 0));
  EXPECT_NE(id, make_attempt_id("c", point, "p", "cpu", 1, 0, 1));
}

TEST(Row, BadRowsAreRefusedWithTheKey) {
  const auto with = [](const char* key, const Json& value) {
    Json json = row_to_json(example_row());
    json[key] = value;
    return [json] { row_from_json(json, "j:3"); };
  };
  EXPECT_THAT(with("schema", 2), ThrowsMessage<UserError>(HasSubstr("row schema 2")));
  EXPECT_THAT(with("cores", -1),
              ThrowsMessage<UserError>(HasSubstr("'cores' is out of range: -1")));
  EXPECT_THAT(with("status", "great"),
              ThrowsMessage<UserError>(HasSubstr("j:3: unknown status 'great'")));
  EXPECT_THAT(with("point", 3),
              ThrowsMessage<UserError>(HasSubstr("'point' must be an object, got 3")));
  EXPECT_THAT(with("metrics", {{"steady_time", "fast"}}),
              ThrowsMessage<UserError>(HasSubstr("steady_time")));
  EXPECT_THAT(with("status", "failed"),
              ThrowsMessage<UserError>(HasSubstr("'failure' must be present")));
  EXPECT_THAT(with("fidelity", {{"status", "fail"}}),
              ThrowsMessage<UserError>(HasSubstr("the status is 'ok', but the output was judged")));
  Json json = row_to_json(example_row());
  json.erase("provider");
  EXPECT_THAT([&] { row_from_json(json, "j:3"); },
              ThrowsMessage<UserError>("j:3: missing key 'provider'"));
}

}  // namespace
}  // namespace assay::lab
