// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/benchmark_entry.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::lab {
namespace {

BenchmarkEntry read(const char* text) { return read_benchmark_entry(Json::parse(text), "t"); }

TEST(BenchmarkEntry, ReadsRepetitionsOfOldAndNewVersions) {
  const auto old = read(R"({"name":"BM/8","iterations":10,"real_time":2.5,"cpu_time":2,
                            "time_unit":"us"})");
  EXPECT_EQ(old.benchmark, "BM/8");
  EXPECT_DOUBLE_EQ(old.real_s, 2.5e-6);
  EXPECT_DOUBLE_EQ(old.cpu_s, 2e-6);
  EXPECT_EQ(old.iterations, 10);
  EXPECT_EQ(old.instance, "");
  const auto now = read(R"({"name":"BM/8/repeats:2","family_index":1,"per_family_instance_index":0,
    "run_name":"BM/8","run_type":"iteration","repetitions":2,"repetition_index":1,"threads":4,
    "iterations":10,"real_time":2.5,"cpu_time":2,"time_unit":"ns","items_per_second":3.0})");
  EXPECT_EQ(now.benchmark, "BM/8");
  EXPECT_EQ(now.instance, "1/0");
  EXPECT_EQ(now.threads, 4);
  EXPECT_EQ(now.items_per_second, 3);
  EXPECT_FALSE(now.bytes_per_second);
}

TEST(BenchmarkEntry, TellsAggregatesAndFailuresApart) {
  const auto mean = read(R"({"name":"BM_mean","run_name":"BM","run_type":"aggregate",
    "aggregate_name":"mean","real_time":1,"time_unit":"s"})");
  EXPECT_EQ(mean.aggregate, "mean");
  EXPECT_EQ(mean.real_s, 1);
  // A coefficient of complexity has no real_time at all.
  EXPECT_EQ(read(R"({"name":"BM_BigO","run_name":"BM","run_type":"aggregate",
    "aggregate_name":"BigO","cpu_coefficient":1})")
                .aggregate,
            "BigO");
  const auto error = read(R"({"name":"BM","error_occurred":true,"error_message":"no disk"})");
  EXPECT_EQ(error.failure, "error_occurred");
  EXPECT_EQ(error.message, "no disk");
  const auto skipped = read(R"({"name":"BM","skipped":true,"skip_message":"no GPU"})");
  EXPECT_EQ(skipped.failure, "skipped_by_benchmark");
}

TEST(BenchmarkEntry, RefusesWhatTheToolDoesNotWrite) {
  for (const char* text : {"3", "{}", R"({"name":"BM"})",
                           R"({"name":"BM","iterations":1,"cpu_time":1,"real_time":"long"})",
                           R"({"name":"BM","iterations":"many","cpu_time":1,"real_time":1})",
                           R"({"name":"BM","iterations":1,"cpu_time":1,"real_time":1,
                               "time_unit":"fortnight"})"}) {
    EXPECT_THROW(read(text), UserError) << text;
  }
}

TEST(BenchmarkEntry, NumbersThatAreNoneBecomeTexts) {
  std::string text = R"({"NaN":"a \"NaN","cv": NaN,"low":-Infinity, "n":[NaN]})";
  blank_non_numbers(text);
  EXPECT_EQ(Json::parse(text), Json::parse(R"({"NaN":"a \"NaN","cv":"","low":"","n":[""]})"));
  for (std::string cut : {R"({"a":")", R"({"a":"\)", "Na", "N", "-", "", "NaN", "I"}) {
    const auto size = cut.size();
    blank_non_numbers(cut);
    EXPECT_EQ(cut.size(), size);
  }
}

}  // namespace
}  // namespace assay::lab
