// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/show/exchange/csv.h"
#include "lab/show/exchange/junit.h"
#include "lab/show/exchange/schedule_trace.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

Row row_named(const std::string& name, int round = 0) {
  Row row;
  row.run_id = "20260101T000000.000000Z-abc1234";
  row.suite = "s";
  row.case_name = name;
  row.provider = name;
  row.platform = "cpu";
  row.point = {{"n", 8}, {name, name}};
  row.machine = machine_from_json(Json{{"fingerprint", name}});
  row.cores = 1;
  row.round = round;
  row.metrics = {{"steady_time", 0.1}, {"bandwidth", 1e300}};
  row.provenance =
      provenance_from_json(Json{{"start_ns", 1000 + 5000 * round},
                                {"end_ns", 4000 + 5000 * round},
                                {"cpus", {0, 1}},
                                {"phases_s", {{"prepare", 1e-6}, {"steady", 1.5e-6}}}});
  row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, "cpu", 1, round, 0);
  return row;
}

// Reads CSV as RFC 4180 says, independently of how it was written.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto& cell = lines.back().back();
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cell += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      lines.back().emplace_back();
    } else if (!quoted && text[i] == '\r' && text[i + 1] == '\n') {
      ++i;
      if (i + 1 < text.size()) lines.push_back({""});
    } else {
      cell += text[i];
    }
  }
  EXPECT_FALSE(quoted);
  return lines;
}

const std::vector<std::string>& hostile() {
  static const std::vector<std::string> kNames = {"<script>alert(1)</script>",
                                                  "a\"b'c,d\r\ne",
                                                  "=HYPERLINK(\"http://x\")",
                                                  "\xE2\x80\xAE gnp",
                                                  std::string("nul\0\x1b[31m", 9),
                                                  "\xff\xfe broken",
                                                  "]]>&amp;<!--",
                                                  std::string(10'000, 'x'),
                                                  "\xEF\xBF\xBE\xEF\xBF\xBF",
                                                  "@cmd",
                                                  "+1",
                                                  "-1"};
  return kNames;
}

TEST(Csv, EveryLineHasTheSameCellsWhateverTheTextIs) {
  std::vector<Row> rows;
  for (const auto& name : hostile()) rows.push_back(row_named(name));
  const auto lines = parse_csv(rows_to_csv(rows));
  ASSERT_EQ(lines.size(), rows.size() + 1);
  for (const auto& line : lines) {
    EXPECT_EQ(line.size(), lines[0].size());
    for (const auto& cell : line) {
      if (!cell.empty()) {
        EXPECT_THAT("=+-@", Not(HasSubstr(cell.substr(0, 1)))) << cell;
      }
      EXPECT_EQ(cell.find('\x1b'), std::string::npos);
      EXPECT_EQ(cell.find("\xE2\x80\xAE"), std::string::npos);
    }
  }
}

TEST(Csv, HasEveryMetricUnrounded) {
  auto row = row_named("a");
  row.metrics["flop_rate"] = -1.0 / 3;
  row.metrics["throughput"] = std::numeric_limits<double>::infinity();
  const auto lines = parse_csv(rows_to_csv(std::vector<Row>{row, row_named("b", 1)}));
  const auto at = [&](const char* title) {
    const auto it = std::ranges::find(lines[0], title);
    EXPECT_NE(it, lines[0].end()) << title;
    return lines[1][static_cast<std::size_t>(it - lines[0].begin())];
  };
  EXPECT_EQ(at("steady_time"), "0.1");
  EXPECT_EQ(std::stod(at("flop_rate")), -1.0 / 3);
  EXPECT_EQ(at("throughput"), "inf");
  EXPECT_EQ(at("point.n"), "8");
  EXPECT_EQ(at("status"), "ok");
  EXPECT_EQ(lines[2].back(), "");  // the second row has no such metric
}

TEST(Csv, OfNothingIsTheTitles) { EXPECT_EQ(parse_csv(rows_to_csv({})).size(), 1u); }

TEST(Junit, EscapesEverything) {
  std::vector<TestCase> tests;
  for (const auto& name : hostile()) {
    for (const auto outcome :
         {TestOutcome::kPassed, TestOutcome::kFailed, TestOutcome::kError, TestOutcome::kSkipped}) {
      tests.push_back({name, name, 0.5, outcome, name, name, name});
    }
  }
  const auto xml = junit_xml("<suite>", tests);
  EXPECT_THAT(xml, Not(HasSubstr("<script>")));
  EXPECT_THAT(xml, Not(HasSubstr("<!--")));
  EXPECT_THAT(xml, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(xml, HasSubstr("name=\"&lt;suite&gt;\" tests=\"48\" failures=\"12\" errors=\"12\" "
                             "skipped=\"12\""));
  for (const char c : xml) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_THAT(xml, Not(HasSubstr("\xEF\xBF\xBE")));
}

TEST(Junit, OneTestForEachSummary) {
  auto wrong = row_named("wrong");
  wrong.status = Status::kWrongResult;
  wrong.failure = Failure{"judge", "value", "off by 3", {}, {}, ""};
  auto skipped = row_named("skipped");
  skipped.status = Status::kSkipped;
  skipped.failure = Failure{"plan", "no_device", "no GPU", {}, {}, ""};
  auto crashed = row_named("crashed");
  crashed.status = Status::kCrashed;
  crashed.failure = Failure{"steady", "signal", "SIGSEGV", 11, {}, ""};
  const auto tests =
      summary_tests(summarise(std::vector<Row>{row_named("fine"), wrong, skipped, crashed}));
  ASSERT_EQ(tests.size(), 4u);
  std::map<std::string, TestOutcome> by_class;
  for (const auto& test : tests) by_class[test.class_name] = test.outcome;
  EXPECT_EQ(by_class["s.fine"], TestOutcome::kPassed);
  EXPECT_EQ(by_class["s.wrong"], TestOutcome::kFailed);
  EXPECT_EQ(by_class["s.skipped"], TestOutcome::kSkipped);
  EXPECT_EQ(by_class["s.crashed"], TestOutcome::kError);
}

TEST(ScheduleTrace, HasASliceForEachAttemptOnItsCores) {
  std::vector<Row> rows = {row_named("b", 1), row_named("a", 0)};
  rows[0].provenance.cpus = std::vector{2, 3};
  rows.push_back(row_named("no times"));
  rows.back().provenance = {};
  const auto trace = schedule_trace(rows);
  std::vector<Json> attempts, phases, threads;
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") threads.push_back(event);
    if (event.value("cat", "") == "attempt") attempts.push_back(event);
    if (event.value("cat", "") == "phase") phases.push_back(event);
  }
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0]["ts"], 0);
  EXPECT_EQ(attempts[0]["dur"], 3);
  EXPECT_EQ(attempts[1]["ts"], 5);
  EXPECT_NE(attempts[0]["tid"], attempts[1]["tid"]);
  EXPECT_EQ(threads.size(), 2u);
  ASSERT_EQ(phases.size(), 4u);
  // Each phase lies within its attempt.
  EXPECT_GE(phases[0]["ts"].get<double>(), 0);
  EXPECT_NEAR(phases[1]["ts"].get<double>() + phases[1]["dur"].get<double>(), 3, 1e-9);
  EXPECT_EQ(trace["otherData"]["rows_without_times"], 1);
}

// The first call takes 3 µs; then two batches of two calls of 2 and 3 µs, and stages of 1 + 0.5 µs.
TEST(ScheduleTrace, StagesLieWithinTheirPhases) {
  auto row = row_named("a");
  row.provenance.end_ns = 1000 + 20'000;
  row.provenance.phases_s = std::map<std::string, double>{{"cold", 3e-6}, {"steady", 10e-6}};
  row.metrics["cold_stage_scan"] = 2e-6;
  row.metrics["cold_stage_surface"] = 1e-6;
  row.samples = samples_from_json(Json{{"batch_calls", 2},
                                       {"steady_s", {2e-6, 3e-6}},
                                       {"stage_scan", {1e-6, 1e-6}},
                                       {"stage_output", {0.5e-6, 0.5e-6}}});
  std::vector<std::tuple<std::string, double, double>> stages;
  const auto trace = schedule_trace(std::vector{row});
  for (const auto& event : trace["traceEvents"]) {
    if (event.value("cat", "") != "stage") continue;
    stages.emplace_back(event["name"], event["ts"].get<double>(), event["dur"].get<double>());
  }
  // Phases end with the attempt: cold from 7 to 10 µs, steady from 10 to 20, batches at 14 and 20.
  const std::vector<std::tuple<std::string, double, double>> expected = {
      {"surface", 7, 1},     {"scan", 8, 2},    {"scan", 12.5, 1},
      {"output", 13.5, 0.5}, {"scan", 18.5, 1}, {"output", 19.5, 0.5}};
  ASSERT_EQ(stages.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::get<0>(stages[i]), std::get<0>(expected[i]));
    EXPECT_NEAR(std::get<1>(stages[i]), std::get<1>(expected[i]), 1e-9);
    EXPECT_NEAR(std::get<2>(stages[i]), std::get<2>(expected[i]), 1e-9);
  }
}

TEST(ScheduleTrace, StagesThatCannotBeTrueAreLeftOut) {
  auto row = row_named("a");
  row.provenance.end_ns = 1000 + 20'000;
  row.provenance.phases_s = std::map<std::string, double>{{"cold", 3e-6}, {"steady", 10e-6}};
  row.metrics["cold_stage_scan"] = 4e-6;  // longer than the call
  row.samples =
      samples_from_json(Json{{"batch_calls", "two"}, {"steady_s", {2e-6}}, {"stage_scan", "x"}});
  auto odd = row;
  odd.samples = samples_from_json(
      Json{{"batch_calls", 1}, {"steady_s", {2e-6, "nan"}}, {"stage_scan", {3e-6, 1e-6}}});
  const auto trace = schedule_trace(std::vector{row, odd});
  for (const auto& event : trace["traceEvents"]) {
    EXPECT_NE(event.value("cat", ""), "stage") << canonical_json(event);
  }
}

TEST(ScheduleTrace, TextOfRowsCannotDisturb) {
  std::vector<Row> rows;
  for (const auto& name : hostile()) rows.push_back(row_named(name));
  const auto text = canonical_json(schedule_trace(rows));
  EXPECT_NO_THROW(parse_json(text, "trace"));
  EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
}

}  // namespace
}  // namespace assay::lab
