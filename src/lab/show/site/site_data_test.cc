// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/site_data.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "lab/beside/summary.h"
#include "lab/decide/history.h"
#include "lab/testing/example_rows.h"
#include "lab/testing/many_rows.h"

namespace assay::lab {
namespace {

using testing_rows::many_rows;

Json data_of(std::vector<Row> rows) {
  SiteInput input;
  input.rows = std::move(rows);
  input.ceilings[testing_rows::kMachines[0]] = testing_rows::example_ceilings();
  return site_data(std::move(input));
}

TEST(SiteData, OfNoRowsIsEmptyAndWhole) {
  const auto data = data_of({});
  for (const char* list : {"runs", "machines", "cases", "points", "summaries", "history"}) {
    EXPECT_TRUE(data.at(list).is_array() && data.at(list).empty()) << list;
  }
  EXPECT_EQ(data.at("rows").at("count"), 0);
}

TEST(SiteData, DoesNotDependOnTheOrderOfRows) {
  auto rows = many_rows({.rows = 500, .runs = 3});
  const auto straight = data_of(rows);
  std::ranges::reverse(rows);
  EXPECT_EQ(canonical_json(data_of(rows)), canonical_json(straight));
}

TEST(SiteData, SummariesAreThoseOfEachRun) {
  const auto rows = many_rows({.rows = 400, .runs = 2, .hostile = false});
  const auto data = data_of(rows);
  std::map<std::string, std::vector<Row>> runs;
  for (const auto& row : rows) runs[row.run_id].push_back(row);
  std::size_t at = 0;
  for (const auto& [id, own] : runs) {
    for (const auto& expected : summarise(own)) {
      const Json& s = data["summaries"].at(at++);
      EXPECT_EQ(data["runs"][s["run"].get<std::size_t>()]["id"], id);
      EXPECT_EQ(s["provider"], expected.provider);
      EXPECT_EQ(s["rows"].size(), expected.attempts.size());
      if (expected.median) {
        EXPECT_EQ(s["median"].get<double>(), *expected.median);
      }
      if (expected.ratio && expected.ratio->interval) {
        EXPECT_EQ(s["ratio"].get<double>(), expected.ratio->ratio);
        EXPECT_EQ(s["ratio_low"].get<double>(), expected.ratio->interval->low);
        EXPECT_LE(s["low"].get<double>(), s["median"].get<double>());
        EXPECT_GE(s["high"].get<double>(), s["median"].get<double>());
      }
    }
  }
  EXPECT_EQ(at, data["summaries"].size());
}

// Parts of a call and what a search took and brought, beside the primary metric; nothing else.
TEST(SiteData, SaysMoreOfWhatIsFollowed) {
  auto rows = many_rows({.rows = 60, .runs = 1, .hostile = false});
  double next = 1;
  for (auto& row : rows) {
    row.provider = rows.front().provider;
    row.point = rows.front().point;
    row.case_name = rows.front().case_name;
    row.status = Status::kOk;
    row.metrics["search_time"] = next++;
    row.metrics["harness_overhead"] = 1;
  }
  const auto data = data_of(rows);
  bool is_told = false;
  for (const auto& s : data.at("summaries")) {
    const auto& told = s.at("more").at("search_time");
    is_told = true;
    EXPECT_LE(told.at(1), told.at(0));
    EXPECT_GE(told.at(2), told.at(0));
    EXPECT_FALSE(s.at("more").contains("harness_overhead"));
    EXPECT_EQ(data.at("cases")
                  .at(s.at("case").get<std::size_t>())
                  .at("more")
                  .at("search_time")
                  .at("kind"),
              "time");
  }
  EXPECT_TRUE(is_told);
}

TEST(SiteData, ExactlyOneSummaryOfASeriesIsTheLatest) {
  auto rows = many_rows({.rows = 500, .runs = 4, .hostile = false});
  // In the newest run on the first machine, one series is void throughout: it says nothing.
  const auto newest =
      std::ranges::max_element(rows, {}, [](const Row& r) {
        return r.machine.fingerprint == testing_rows::kMachines[0] ? r.run_id : std::string();
      })->run_id;
  const Row like = *std::ranges::find(rows, newest, &Row::run_id);
  for (auto& row : rows) {
    if (row.run_id == newest && row.case_name == like.case_name && row.point == like.point &&
        row.provider == like.provider) {
      row.status = Status::kExcluded;
      row.failure = Failure{"steady", "steal", "", {}, {}, ""};
    }
  }
  const auto data = data_of(rows);
  std::map<std::string, int> latest;
  for (const auto& s : data["summaries"]) {
    Json key = {s["case"], s["point"], s["provider"], s["machine"]};
    latest[canonical_json(key)] += s["latest"].get<bool>();
    if (s["latest"] && s["provider"] == like.provider &&
        data["points"][s["point"].get<std::size_t>()]["values"].size() == like.point.size()) {
      EXPECT_NE(s["status"], "excluded");
    }
  }
  for (const auto& [key, count] : latest) EXPECT_EQ(count, 1) << key;
}

TEST(SiteData, HistoryIsThatOfAssayHistory) {
  const auto rows = many_rows({.rows = 5000, .runs = 24});
  const auto data = data_of(rows);
  std::size_t changes = 0, expected_changes = 0;
  double product = 1, expected_product = 1;
  for (const auto& series : data["history"]) {
    changes += series["changes"].size();
    for (const auto& change : series["changes"]) {
      product *= change["ratio"].get<double>();
      // The generator's one step: our providers, from the fourteenth run on.
      const auto position = change["position"].get<std::size_t>();
      EXPECT_EQ(series["points"][position]["run"], 13);
      EXPECT_NEAR(change["ratio"].get<double>(), 1.09, 0.02);
    }
    EXPECT_EQ(series["segments"].size(), series["changes"].size() + 1);
    EXPECT_EQ(series["segments"].back()["last"], series["points"].size() - 1);
  }
  for (const auto& series : history(rows, {})) {
    expected_changes += series.changes.size();
    for (const auto& change : series.changes) expected_product *= change.ratio;
  }
  EXPECT_GT(changes, 0u);
  EXPECT_EQ(changes, expected_changes);
  EXPECT_DOUBLE_EQ(product, expected_product);
}

TEST(SiteData, MachinesHaveNoiseAndCeilings) {
  const auto data = data_of(many_rows({.rows = 1000, .runs = 6, .hostile = false}));
  ASSERT_EQ(data["machines"].size(), 2u);
  const Json& first = data["machines"][0];
  EXPECT_EQ(first["fingerprint"], testing_rows::kMachines[0]);
  EXPECT_EQ(first["ceilings"]["groups"].size(), 2u);
  EXPECT_EQ(first["ceilings"]["groups"][0]["memory"].size(), 3u);
  // In operations as cases count them: a multiply-add is two.
  std::map<std::string, double> roofs;
  for (const auto& roof : first["ceilings"]["groups"][0]["compute"]) {
    roofs[roof[0].get<std::string>()] = roof[1].get<double>();
  }
  EXPECT_EQ(roofs.at("fma_f32"), 2 * 9.6e10);
  EXPECT_EQ(roofs.at("add_max_f32"), 2 * 4.8e10);
  EXPECT_TRUE(data["machines"][1]["ceilings"].is_null());
  // The generator's scatter: 1 % of a half-normal within a process, whose standard deviation is
  // 0.6 of that; about 1 % between processes.
  EXPECT_NEAR(first["noise"]["within_process"].get<double>(), 0.006, 0.002);
  EXPECT_NEAR(first["noise"]["between_processes"].get<double>(), 0.010, 0.004);
}

TEST(SiteData, CalibrationComesFromOneProviderUnderTwoNames) {
  auto rows = many_rows({.rows = 1000, .runs = 4, .hostile = false});
  const auto data = data_of(rows);
  ASSERT_FALSE(data["calibrations"].empty());
  const Json& first = data["calibrations"][0];
  EXPECT_EQ(first["comparisons"].get<std::size_t>(), first["list"].size());
  for (const auto& entry : first["list"]) {
    EXPECT_EQ(entry["provider"], "reference");
    EXPECT_EQ(entry["other"], "reference@again");
    EXPECT_NEAR(entry["ratio"].get<double>(), 1, 0.03);  // the generator's scatter, five times over
  }
  EXPECT_LT(first["floor"].get<double>(), 0.03);
  EXPECT_EQ(first["false_alarms"]["count"], 0);
  EXPECT_EQ(first["false_alarms"]["trials"], 2 * first["comparisons"].get<int>());

  // Another build's worker is other code: nothing to compare with itself.
  for (auto& row : rows) {
    if (row.provider == "reference@again") {
      row.provenance.side.emplace().worker_sha256 = "ab";
    }
    auto& calibration = row.provenance.calibration.emplace();
    calibration.measured = "2026-01-01T00:00:00Z";
    calibration.floor = 0.0125;
  }
  const auto others = data_of(rows);
  ASSERT_EQ(others["calibrations"].size(), 2u);  // machines, by what their rows carry
  EXPECT_EQ(others["calibrations"][0]["comparisons"], 0);
  EXPECT_EQ(others["calibrations"][0]["recorded"]["floor"], 0.0125);
}

TEST(SiteData, TextIsPrintableAndNoKeyComesFromARow) {
  const auto data = data_of(many_rows({.rows = 200, .runs = 1}));
  const auto text = canonical_json(data);
  for (const char* bad : {"\u202e", "\u2028", "\\u001b"}) {
    EXPECT_EQ(text.find(bad), std::string::npos) << bad;
  }
  for (const char* list : {"runs", "machines", "cases", "points", "summaries"}) {
    for (const auto& item : data[list]) {
      EXPECT_FALSE(item.contains("__proto__"));
      EXPECT_FALSE(item.contains("constructor"));
    }
  }
}

TEST(SiteData, WhatAModelComputedHasNoPlaceUnderTheRoof) {
  auto rows = many_rows({.rows = 60, .runs = 1, .hostile = false});
  for (auto& row : rows) row.work = {{"flops", 1e9}, {"bytes", 1e6}};
  const auto with_place = [&] {
    int count = 0;
    const auto data = data_of(rows);
    for (const auto& s : data["summaries"]) count += s.contains("intensity");
    return count;
  };
  EXPECT_GT(with_place(), 0);
  for (auto& row : rows) row.provenance.origin = "simulated";
  EXPECT_EQ(with_place(), 0);
}

TEST(SiteData, RowsOfOtherHandsAreNoError) {
  auto rows = many_rows({.rows = 60, .runs = 1, .hostile = false});
  rows.resize(8);
  for (auto& row : rows) {
    row.provenance = {};
    row.machine = machine_from_json(Json{{"fingerprint", "../../etc"}});
    row.work = {{"flops", INFINITY}, {"bytes", 0}};
    row.samples = samples_from_json(Json{{"steady_s", {"nan", -1}}});
    row.fidelity.reset();
  }
  rows[0].metrics["steady_time"] = -1;
  rows[1].metrics.clear();
  const auto data = data_of(rows);
  EXPECT_EQ(data["rows"]["count"], 8);
  EXPECT_FALSE(canonical_json(data).empty());
}

Row attempt_of(const std::string& run, const std::string& provider, int round, double time,
               const std::string& baseline) {
  Row row = testing_rows::example_row({.provider = provider,
                                       .time = time * (1 + 0.01 * (round * 7 % 5)),
                                       .round = round,
                                       .run_id = run,
                                       .case_name = "matmul",
                                       .n = 64,
                                       .order = round});
  row.provenance.baseline = baseline;
  row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, row.platform, row.cores,
                                   row.round, 0);
  return row;
}

std::vector<Row> two_runs_and_one_with_itself() {
  std::vector<Row> rows;
  for (int round = 0; round < 8; ++round) {
    for (const auto& [run, time] : {std::pair{"20260101T000000.000000Z-aaaaaaa", 1e-3},
                                    {"20260102T000000.000000Z-bbbbbbb", 2e-3}}) {
      rows.push_back(attempt_of(run, "reference", round, 5e-3, "reference"));
      rows.push_back(attempt_of(run, "naive", round, time, "reference"));
    }
    for (const char* name : {"naive", "naive@b"}) {
      rows.push_back(attempt_of("20260103T000000.000000Z-ccccccc", name, round, 1e-3, "naive"));
    }
  }
  return rows;
}

TEST(SiteData, WhatIsComparedWithItselfIsNotTheNewestWord) {
  const auto data = data_of(two_runs_and_one_with_itself());
  EXPECT_EQ(data["cases"][0]["baseline"], "reference");
  for (const auto& s : data["summaries"]) {
    const bool itself = s["run"] == 2;
    EXPECT_EQ(s.value("self", false), itself);
    const bool newest = s["provider"] == "naive@b" ? itself : s["run"] == 1;
    EXPECT_EQ(s["latest"], newest) << s["provider"] << s["run"];
  }
  // Among others a second name makes nobody suspicious.
  auto rows = two_runs_and_one_with_itself();
  for (int round = 0; round < 8; ++round) {
    rows.push_back(
        attempt_of("20260103T000000.000000Z-ccccccc", "reference", round, 5e-3, "reference"));
  }
  const auto again = data_of(rows);
  for (const auto& s : again["summaries"]) {
    EXPECT_EQ(s.value("self", false), s["provider"] == "naive@b");
  }
}

TEST(SiteData, PairsOfRunsAreUnpairedRatios) {
  const auto data = data_of(two_runs_and_one_with_itself());
  int seen = 0;
  for (const auto& pair : data["pairs"]) {
    const auto& a = data["summaries"][pair[0].get<std::size_t>()];
    const auto& b = data["summaries"][pair[1].get<std::size_t>()];
    EXPECT_EQ(a["provider"], b["provider"]);
    EXPECT_LT(a["run"], b["run"]);
    if (a["provider"] != "naive" || a["run"] != 0 || b["run"] != 1) continue;
    ++seen;
    EXPECT_NEAR(pair[2].get<double>(), 2, 1e-9);
    EXPECT_LT(pair[3].get<double>(), 2);
    EXPECT_GT(pair[4].get<double>(), 2);
    EXPECT_EQ(pair[5], true);  // over all rows of the two runs
  }
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(data["pairs"].size(), 3u + 1u);  // naive in three runs, reference in two
}

TEST(SiteData, ACommitsAddressIsOfTheWeb) {
  for (const char* good :
       {"https://example.org/a/commit/{commit}", "http://x/?id={commit}&y=%20"}) {
    EXPECT_NO_THROW(check_commit_url(good)) << good;
  }
  for (const char* bad :
       {"", "https://example.org/", "javascript:{commit}", "https://x/{commit} y",
        "https://x/\"{commit}", "https://x/<{commit}", "data:text/html,{commit}"}) {
    EXPECT_THROW(check_commit_url(bad), UserError) << bad;
  }
}

}  // namespace
}  // namespace assay::lab
