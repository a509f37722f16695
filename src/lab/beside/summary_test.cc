// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lab/testing/example_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Summary& of(const std::vector<Summary>& summaries, const std::string& provider) {
  const auto it = std::ranges::find(summaries, provider, &Summary::provider);
  if (it == summaries.end()) throw std::runtime_error("no summary of " + provider);
  return *it;
}

TEST(Summary, PairsByRoundWhateverTheOrderOfRows) {
  auto rows = example_rounds(7, 0.5);
  std::ranges::reverse(rows);
  std::rotate(rows.begin(), rows.begin() + 5, rows.end());
  const auto summaries = summarise(rows);
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[0].provider, "naive");  // the baseline first
  EXPECT_TRUE(summaries[0].is_baseline);
  EXPECT_EQ(summaries[0].ratio->ratio, 1);
  EXPECT_FALSE(summaries[0].ratio->interval);
  const auto& simd = summaries[1];
  EXPECT_EQ(simd.status, Status::kOk);
  EXPECT_EQ(simd.rounds, 7);
  EXPECT_EQ(simd.baseline, "naive");
  // Ratios per round are 0.5·{0.99, 1, 1.01}, although both sides drift by 12 %.
  EXPECT_NEAR(simd.ratio->ratio, 0.5, 1e-12);
  EXPECT_NEAR(simd.ratio->interval->low, 0.495, 1e-12);
  EXPECT_NEAR(simd.ratio->interval->high, 0.505, 1e-12);
  EXPECT_NEAR(*simd.median, 0.5e-3 * 1.06, 2e-5);
  EXPECT_EQ(*simd.peak_rss, 3e7);
  EXPECT_EQ(*simd.fidelity_error, 0.125);
  EXPECT_EQ(*simd.fraction_of_limit, 0.25);
  EXPECT_THAT(simd.caveats, IsEmpty());
  ASSERT_EQ(simd.attempts.size(), 7u);
  EXPECT_LT(simd.attempts[0].value, simd.attempts[6].value);  // in time order: the drift shows
}

// A ceiling is a measurement too: what is a little faster is no wrong result, and says so.
TEST(Summary, FasterThanTheMeasuredCeilingIsACaveat) {
  auto rows = example_rounds(7, 0.5);
  for (auto& row : rows) {
    if (row.provider != "simd") continue;
    row.metrics["fraction_of_limit"] = 1.12;
    row.provenance.limit.emplace().is_bound = true;
  }
  const auto with = summarise(rows);
  EXPECT_THAT(with[1].caveats,
              ElementsAre(HasSubstr("faster than this machine's measured ceiling")));
  EXPECT_THAT(with[0].caveats, IsEmpty());
  for (auto& row : rows) {
    if (row.provenance.limit) row.provenance.limit->is_bound = false;
  }
  EXPECT_THAT(summarise(rows)[1].caveats, IsEmpty());
}

// The same provider on another machine, platform, number of cores, in another way: never paired.
TEST(Summary, ComparesOnlyWhatIsComparable) {
  const Spec elsewhere[] = {{.fingerprint = "ff"},
                            {.platform = "cuda"},
                            {.cores = 4},
                            {.isolation = "in-process"},
                            {.n = 65}};
  for (const auto& place : elsewhere) {
    auto rows = example_rounds(6, 0.5);
    std::erase_if(rows, [](const Row& row) { return row.provider == "simd"; });
    const auto more = example_rounds(6, 0.5, place);
    for (const auto& row : more) {
      if (row.provider == "simd") rows.push_back(row);
    }
    const auto simd = of(summarise(rows), "simd");
    EXPECT_FALSE(simd.ratio);
    EXPECT_TRUE(simd.median);
    EXPECT_THAT(simd.caveats, Contains(HasSubstr("not once in the same round")));
  }
}

TEST(Summary, RoundsOfDifferentRunsAreNotPairs) {
  std::vector<Row> rows;
  for (int round = 0; round < 6; ++round) {
    rows.push_back(example_row({.provider = "naive", .round = round, .run_id = "r1"}));
    rows.push_back(example_row({.provider = "simd", .round = round, .run_id = "r2"}));
  }
  EXPECT_FALSE(of(summarise(rows), "simd").ratio);
  // Two whole runs give the pairs of both.
  rows = example_rounds(4, 0.5, {.run_id = "r1"});
  const auto second = example_rounds(4, 0.5, {.run_id = "r2"});
  rows.insert(rows.end(), second.begin(), second.end());
  const auto simd = of(summarise(rows), "simd");
  EXPECT_EQ(simd.ratio->rounds, 8);
  EXPECT_EQ(simd.rounds, 8);
  EXPECT_THAT(simd.caveats, Contains("pooled over 2 runs"));
}

TEST(Summary, TooFewRoundsHaveARatioWithoutAnInterval) {
  const auto simd = of(summarise(example_rounds(5, 0.5)), "simd");
  EXPECT_NEAR(simd.ratio->ratio, 0.5, 1e-12);
  EXPECT_FALSE(simd.ratio->interval);
  EXPECT_THAT(simd.caveats, ElementsAre("no interval: 5 rounds with its baseline, at least 6 are "
                                        "needed"));
}

TEST(Summary, TheMostTellingStatusStandsForAll) {
  const auto status_of = [](std::vector<Status> statuses) {
    std::vector<Row> rows;
    for (const Status status : statuses) {
      rows.push_back(example_row({.round = static_cast<int>(rows.size()), .status = status}));
    }
    return summarise(rows).at(0).status;
  };
  using enum Status;
  EXPECT_EQ(status_of({kOk, kOk}), kOk);
  EXPECT_EQ(status_of({kOk, kCrashed, kOk}), kCrashed);
  EXPECT_EQ(status_of({kCrashed, kWrongResult}), kWrongResult);
  EXPECT_EQ(status_of({kTimeout, kOutOfMemory}), kOutOfMemory);
  EXPECT_EQ(status_of({kFailed, kTimeout}), kTimeout);
  EXPECT_EQ(status_of({kSkipped, kOk}), kOk);
  EXPECT_EQ(status_of({kSkipped, kEnvMissing}), kEnvMissing);
  EXPECT_EQ(status_of({kExcluded, kOk, kInterrupted}), kOk);
  EXPECT_EQ(status_of({kExcluded, kSkipped}), kSkipped);
  EXPECT_EQ(status_of({kInterrupted, kExcluded}), kExcluded);
}

TEST(Summary, AWrongResultKeepsItsTimeAndEarnsNoRatio) {
  auto rows = example_rounds(8, 0.5);
  rows[3].status = Status::kWrongResult;
  rows[3].failure = failure_from_json(Json{{"code", "value"}});
  const auto simd = of(summarise(rows), "simd");
  EXPECT_EQ(simd.status, Status::kWrongResult);
  EXPECT_FALSE(simd.ratio);
  EXPECT_EQ(simd.failure->code, "value");
  EXPECT_EQ(simd.rounds, 8);
  EXPECT_THAT(simd.caveats, Contains("no ratio: a wrong result can win nothing"));
  EXPECT_THAT(simd.caveats, Contains("1 of 8 attempts: wrong result"));
  for (auto& row : rows) {
    if (row.provider == "simd") row.status = Status::kWrongResult;
  }
  EXPECT_TRUE(of(summarise(rows), "simd").median);
  EXPECT_FALSE(of(summarise(rows), "simd").ratio);
}

TEST(Summary, NothingIsMeasuredAgainstAWrongBaseline) {
  auto rows = example_rounds(8, 0.5);
  rows[0].status = Status::kWrongResult;
  rows[0].failure = failure_from_json(Json{{"code", "value"}});
  const auto summaries = summarise(rows);
  EXPECT_FALSE(of(summaries, "simd").ratio);
  EXPECT_FALSE(of(summaries, "naive").ratio);
}

TEST(Summary, ACrashCostsItsRoundOnly) {
  auto rows = example_rounds(8, 0.5);
  rows[5].status = Status::kCrashed;
  rows[5].failure = failure_from_json(Json{{"code", "signal"}});
  rows[5].metrics.clear();
  const auto simd = of(summarise(rows), "simd");
  EXPECT_EQ(simd.status, Status::kCrashed);
  EXPECT_EQ(simd.ratio->rounds, 7);
  EXPECT_EQ(simd.rounds, 7);
  EXPECT_TRUE(std::isnan(simd.attempts[2].value));
}

TEST(Summary, VoidAttemptsAreCountedButNotUsed) {
  auto rows = example_rounds(6, 0.5);
  // Round 2 of simd was contaminated, and tried again.
  auto spoilt = example_row(
      {.provider = "simd", .time = 77, .round = 2, .status = Status::kExcluded, .order = 5});
  spoilt.metrics["steady_time"] = 77;
  rows[5].try_number = 1;
  rows.push_back(spoilt);
  const auto simd = of(summarise(rows), "simd");
  EXPECT_EQ(simd.status, Status::kOk);
  EXPECT_EQ(simd.rounds, 6);
  EXPECT_EQ(simd.ratio->rounds, 6);
  EXPECT_LT(simd.ratio->interval->high, 0.51);
  EXPECT_EQ(simd.counts.at(Status::kExcluded), 1);
  EXPECT_EQ(simd.attempts.size(), 7u);
  EXPECT_THAT(simd.caveats, ElementsAre("1 attempt excluded or interrupted, counted but not used"));
}

TEST(Summary, ValuesThatAreNoTimesAreLeftOutAndSaid) {
  for (const double bad : {0.0, -1.0, std::nan(""), double{INFINITY}}) {
    auto rows = example_rounds(7, 0.5);
    rows[1].metrics["steady_time"] = bad;
    const auto simd = of(summarise(rows), "simd");
    EXPECT_EQ(simd.ratio->rounds, 6);
    EXPECT_THAT(simd.caveats, Contains("1 ok attempt without a usable steady_time"));
  }
  auto rows = example_rounds(6, 0.5);
  for (auto& row : rows) row.metrics.clear();
  const auto simd = of(summarise(rows), "simd");
  EXPECT_FALSE(simd.median);
  EXPECT_FALSE(simd.ratio);
  EXPECT_FALSE(simd.peak_rss);
}

TEST(Summary, RowsNameBaselineAndMetricThemselves) {
  auto rows = example_rounds(6, 0.5);
  const CaseFactsByName facts = {{"semiring_matmul", {"simd", "cold_time"}}};
  EXPECT_EQ(of(summarise(rows, facts), "simd").baseline, "naive");
  for (auto& row : rows) {
    row.provenance.baseline.reset();
    row.provenance.primary_metric.reset();
    row.metrics["cold_time"] = 9;
  }
  EXPECT_EQ(of(summarise(rows), "simd").baseline, "");
  EXPECT_EQ(of(summarise(rows), "simd").metric, "steady_time");
  EXPECT_THAT(of(summarise(rows), "simd").caveats,
              ElementsAre("no ratio: the rows name no baseline"));
  const auto summaries = summarise(rows, facts);
  EXPECT_TRUE(of(summaries, "simd").is_baseline);
  EXPECT_EQ(*of(summaries, "naive").median, 9);
}

TEST(Summary, TheWorstFidelityCounts) {
  auto rows = example_rounds(3, 0.5);
  rows[1].fidelity->error = 0.9;
  EXPECT_EQ(*of(summarise(rows), "simd").fidelity_error, 0.9);
  rows[3].fidelity->error = INFINITY;
  EXPECT_EQ(*of(summarise(rows), "simd").fidelity_error, INFINITY);
  rows[3].fidelity->error = NAN;
  EXPECT_TRUE(std::isnan(*of(summarise(rows), "simd").fidelity_error));
  for (auto& row : rows) row.fidelity.reset();
  EXPECT_FALSE(of(summarise(rows), "simd").fidelity_error);
}

TEST(Summary, PointsComeInTheOrderOfTheirNumbers) {
  std::vector<Row> rows;
  for (const int n : {1024, 64, 512, 8}) rows.push_back(example_row({.n = n}));
  std::vector<int> order;
  for (const auto& s : summarise(rows)) order.push_back(s.point["n"].get<int>());
  EXPECT_THAT(order, ElementsAre(8, 64, 512, 1024));
}

// Rows of other hands: whatever they hold in their free-form parts, a summary comes out.
TEST(Summary, OddProvenanceIsNotKnownRatherThanAnError) {
  for (const Json& odd :
       {Json::object(), Json{{"noise", 3}, {"baseline", 7}, {"isolation", nullptr}},
        Json{{"noise", {{"before", "x"}}}, {"unequal_work", {1}}}}) {
    auto row = example_row({});
    row.provenance = provenance_from_json(odd);
    row.machine = {};
    row.fidelity = fidelity_from_json(Json{{"error", {1, 2}}});
    const auto summaries = summarise(std::vector<Row>{row});
    EXPECT_EQ(summaries.at(0).fingerprint, "");
    EXPECT_FALSE(summaries.at(0).fidelity_error);
  }
  EXPECT_THAT(summarise({}), IsEmpty());
}

TEST(SummaryJson, HasExactlyTheseFields) {
  auto rows = example_rounds(6, 0.5);
  rows.push_back(
      example_row({.provider = "cuda", .status = Status::kSkipped, .code = "no_device"}));
  const auto json = summary_json("run", "results/run.jsonl", summarise(rows));
  EXPECT_EQ(json["run_id"], "run");
  EXPECT_EQ(json["journal"], "results/run.jsonl");
  ASSERT_EQ(json["results"].size(), 3u);
  const auto keys = [](const Json& object) {
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items()) names.push_back(key);
    return names;
  };
  for (const auto& result : json["results"]) {
    EXPECT_THAT(keys(result), ElementsAre("baseline", "case", "fidelity_error", "fraction_of_limit",
                                          "median_s", "p_adjusted", "peak_device_memory",
                                          "peak_rss", "platform", "point", "provider", "ratio",
                                          "ratio_high", "ratio_low", "rounds", "status", "suite"));
  }
  const auto& skipped = json["results"][1];
  EXPECT_EQ(skipped["provider"], "cuda");
  EXPECT_EQ(skipped["status"], "skipped");
  EXPECT_EQ(skipped["rounds"], 0);
  for (const char* key : {"median_s", "ratio", "ratio_low", "ratio_high", "fraction_of_limit",
                          "fidelity_error", "peak_rss"}) {
    EXPECT_TRUE(skipped[key].is_null()) << key;
  }
  const auto& simd = json["results"][2];
  EXPECT_NEAR(simd["ratio"].get<double>(), 0.5, 1e-12);
  EXPECT_LT(simd["ratio_low"], simd["ratio_high"]);
  EXPECT_EQ(simd["baseline"], "naive");
  EXPECT_EQ(simd["point"]["n"], 64);
  EXPECT_TRUE(summary_json("", "", {})["run_id"].is_null());
}

TEST(SummaryJson, AMedianThatIsNoTimeIsNotCalledSeconds) {
  auto rows = example_rounds(6, 0.5);
  for (auto& row : rows) {
    row.provenance.primary_metric = "throughput";
    row.metrics["throughput"] = 100;
  }
  const auto json = summary_json("", "", summarise(rows));
  EXPECT_TRUE(json["results"][0]["median_s"].is_null());
  EXPECT_EQ(json["results"][1]["ratio"], 1);
}

TEST(Summary, TwoHeapsOfAttemptsAreShownAsSuch) {
  auto rows = example_rounds(12, 0.5);
  for (auto& row : rows) {
    if (row.provider != "naive") row.metrics["steady_time"] = row.round % 3 == 0 ? 2e-3 : 1e-3;
  }
  const auto summaries = summarise(rows);
  EXPECT_THAT(summaries[1].caveats,
              Contains("its attempts are bimodal: 8 about 1.000 ms and 4 about 2.000 ms"));
  EXPECT_THAT(summaries[0].caveats, Not(Contains(HasSubstr("bimodal"))));
}

// Machines of one kind share a fingerprint: a run that goes on by --resume may be on another GPU.
TEST(Summary, AGpuIsComparedWithItselfAlone) {
  auto rows = example_rounds(6, 0.5, {.platform = "cuda"});
  const auto move_to = [&](std::size_t row, const char* uuid) {
    rows[row].provenance.gpu.emplace().uuid = uuid;
    rows[row].provenance.device = uuid;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) move_to(i, "GPU-a");
  auto simd = of(summarise(rows), "simd");
  ASSERT_TRUE(simd.ratio && simd.ratio->interval);
  EXPECT_THAT(simd.caveats, Not(Contains(HasSubstr("devices"))));

  const auto last = std::ranges::find_if(
      rows, [](const Row& row) { return row.provider == "simd" && row.round == 5; });
  move_to(static_cast<std::size_t>(last - rows.begin()), "GPU-b");
  simd = of(summarise(rows), "simd");
  EXPECT_EQ(simd.rounds, 6);
  EXPECT_EQ(simd.ratio->rounds, 5);
  EXPECT_FALSE(simd.ratio->interval);
  EXPECT_THAT(simd.caveats,
              testing::IsSupersetOf(
                  {"no interval: 5 rounds with its baseline and on one device, at least 6 "
                   "are needed",
                   "the rows of this point come from 2 devices (GPU-a, GPU-b)"}));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    move_to(i, rows[i].provider == "simd" ? "GPU-b" : "GPU-a");
  }
  EXPECT_FALSE(of(summarise(rows), "simd").ratio);
}

TEST(Summary, MemoryIsThatOfThePlaceWhereItComputes) {
  for (const bool known : {true, false}) {
    auto rows = example_rounds(1, 0.5, {.platform = "cuda"});
    for (auto& row : rows) {
      if (known) row.metrics["peak_device_memory"] = 5e9;
    }
    const auto simd = of(summarise(rows), "simd");
    EXPECT_EQ(simd.peak_rss, 3e7);
    EXPECT_EQ(simd.peak_memory(), known ? 5e9 : 3e7);
  }
  EXPECT_EQ(of(summarise(example_rounds(1, 0.5)), "simd").peak_memory(), 3e7);
}

// A kernel that was changed is no repetition of what it was, nor is another problem of that name.
TEST(Summary, OtherContentsOfACaseFileAreLeftOut) {
  auto rows = example_rounds(4, 0.5, {.run_id = "r1"});
  auto second = example_rounds(4, 0.9, {.run_id = "r2"});
  const auto held = [](std::vector<Row>& all, const char* sha256, const char* problem) {
    for (auto& row : all) {
      row.provenance.request =
          Json{{"case_files",
                {{{"case", row.case_name}, {"path", "/b.toml"}, {"sha256", {{"/l.so", sha256}}}}}}};
      row.provenance.identity = Json{{"problem", problem}};
    }
  };
  const auto pooled = [&] {
    auto all = rows;
    all.insert(all.end(), second.begin(), second.end());
    return of(summarise(all), "simd");
  };
  held(rows, "aa", "p");
  held(second, "aa", "p");
  EXPECT_EQ(pooled().rounds, 8);
  EXPECT_EQ(pooled().other_contents, 0);
  for (const auto& [sha256, problem] : {std::pair("bb", "p"), std::pair("aa", "q")}) {
    held(second, sha256, problem);
    const auto simd = pooled();
    EXPECT_EQ(simd.rounds, 4);
    EXPECT_EQ(simd.other_contents, 4);
    EXPECT_NEAR(simd.ratio->ratio, 0.9, 0.02);
    EXPECT_THAT(simd.caveats,
                Contains("4 attempts of other contents of the case's files left out"));
  }
}

}  // namespace
}  // namespace assay::lab
