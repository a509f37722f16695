// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "lab/decide/bundle.h"
#include "lab/decide/op_matrix.h"
#include "lab/testing/decision_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::HasSubstr;
using testing::Not;

const Json kPoint = {{"n", 64}, {"dtype", "f32"}, {"seed", 0}};

std::vector<Row> two_providers(double ratio = 0.5) {
  auto rows = make_rounds(8, {.provider = "naive"});
  append(rows, make_rounds(8, {.provider = "assay-simd", .time = 1e-3 * ratio}));
  return rows;
}

TEST(Bundle, HasEveryProviderAndNoRecommendation) {
  auto rows = two_providers();
  rows.push_back(make_row({.provider = "torch", .status = Status::kEnvMissing}));
  append(rows, make_rounds(8, {.provider = "naive", .n = 65}));
  auto older = make_rounds(6, {.provider = "naive",
                               .time = 2e-3,
                               .run_id = "20251231T000000.000000Z-9999999",
                               .commit = "9999999"});
  auto all = rows;
  append(all, older);
  const auto bundle = evidence_bundle(all, rows, {"matmul", kPoint});
  EXPECT_TRUE(bundle["recommendation"].is_null());
  EXPECT_TRUE(bundle.contains("recommendation"));
  ASSERT_EQ(bundle["places"].size(), 1u);
  const auto& providers = bundle["places"][0]["providers"];
  ASSERT_EQ(providers.size(), 3u);
  EXPECT_EQ(providers[0]["provider"], "naive");
  EXPECT_EQ(providers[0]["trend"].size(), 2u);
  EXPECT_EQ(providers[0]["trend"][0]["version"], "9999999");
  EXPECT_NEAR(providers[1]["ratio"].get<double>(), 0.5, 0.01);
  EXPECT_TRUE(providers[1]["low"].is_number());
  EXPECT_EQ(providers[2]["status"], "env_missing");
  const auto text = bundle_markdown(bundle);
  EXPECT_THAT(text, HasSubstr("assay-simd"));
  EXPECT_THAT(text, HasSubstr("## Recommendation\n\nNone, on purpose"));
}

TEST(Bundle, MachinesStandApart) {
  auto rows = two_providers();
  append(rows, make_rounds(6, {.provider = "naive", .fingerprint = "feed"}));
  EXPECT_EQ(evidence_bundle(rows, rows, {"matmul", kPoint})["places"].size(), 2u);
}

// Every fact of a place is its own: also what only its newest row says.
TEST(Bundle, CoresAndIsolationStandApart) {
  std::vector<Row> rows;
  const auto add = [&](RowSpec spec, double cold, const char* threads) {
    for (auto& row : make_rounds(6, spec)) {
      row.metrics["cold_time"] = cold;
      row.provenance.versions = std::map<std::string, std::string>{{"threads", threads}};
      rows.push_back(row);
    }
  };
  add({.provider = "naive", .cores = 2}, 1, "two");
  add({.provider = "naive", .run_id = "20260102T000000.000000Z-aaaaaaa", .cores = 1}, 5, "one");
  add({.provider = "naive",
       .run_id = "20260103T000000.000000Z-aaaaaaa",
       .cores = 2,
       .isolation = "in-process"},
      99, "inside");
  const auto bundle = evidence_bundle(rows, rows, {"matmul", kPoint});
  ASSERT_EQ(bundle["places"].size(), 3u);
  for (const auto& place : bundle["places"]) {
    const auto& entry = place["providers"][0];
    const bool inside = place["isolation"] == "in-process";
    EXPECT_EQ(entry["cold_time"], inside ? 99 : place["cores"] == 1 ? 5 : 1);
    EXPECT_EQ(entry["versions"]["threads"], inside                ? "inside"
                                            : place["cores"] == 1 ? "one"
                                                                  : "two");
  }
}

TEST(Bundle, OfNothingIsRefused) {
  const auto rows = two_providers();
  EXPECT_THROW(evidence_bundle(rows, rows, {"other", kPoint}), UserError);
  EXPECT_THROW(evidence_bundle(rows, rows, {"matmul", Json{{"n", 1}}}), UserError);
}

TEST(Bundle, TextOfRowsCannotDisturb) {
  const auto plain = two_providers();
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  const auto expected = lines(bundle_markdown(evidence_bundle(plain, plain, {"matmul", kPoint})));
  for (const auto& name : hostile_names()) {
    auto rows = two_providers();
    for (auto& row : rows) {
      if (row.provider != "naive") row.provider = name;
    }
    const auto bundle = evidence_bundle(rows, rows, {"matmul", kPoint});
    const auto text = bundle_markdown(bundle);
    EXPECT_EQ(lines(text), expected);
    EXPECT_THAT(text, Not(HasSubstr("<script>")));
    EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
    EXPECT_NO_THROW(parse_json(canonical_json(bundle), "test"));
  }
}

TEST(OpMatrix, RatioIsOursOverTheReference) {
  const auto fragment = op_matrix_fragment(two_providers(0.5), {.points = {{"matmul", kPoint}}});
  const auto& entry = fragment["matmul"];
  EXPECT_EQ(entry["perf_cpu_baseline"], "naive");
  EXPECT_NEAR(entry["perf_cpu_ratio"].get<double>(), 0.5, 0.01);
  EXPECT_TRUE(entry["perf_gpu_ratio"].is_null());
  EXPECT_TRUE(entry["perf_gpu_baseline"].is_null());
  EXPECT_EQ(entry["_meta"]["cpu"]["pairing"], "paired");
  EXPECT_THAT(entry["_meta"]["notes"]["gpu"].get<std::string>(), HasSubstr("no ok rows"));
}

TEST(OpMatrix, TheFastestOfOursUnlessNamed) {
  auto rows = two_providers(0.5);
  append(rows, make_rounds(8, {.provider = "assay-ref", .time = 3e-3}));
  const OpMatrixOptions options{.points = {{"matmul", kPoint}}};
  EXPECT_EQ(op_matrix_fragment(rows, options)["matmul"]["_meta"]["cpu"]["provider"], "assay-simd");
  auto named = options;
  named.ours = "assay-ref";
  named.reference = "assay-simd";
  EXPECT_NEAR(op_matrix_fragment(rows, named)["matmul"]["perf_cpu_ratio"].get<double>(), 6, 0.1);
}

TEST(OpMatrix, WrongMissingAndQuickRowsGiveNoFigure) {
  OpMatrixOptions options{.points = {{"matmul", kPoint}}};
  auto wrong = two_providers();
  wrong.back() = make_row({.provider = "assay-simd", .round = 7, .status = Status::kWrongResult});
  EXPECT_TRUE(op_matrix_fragment(wrong, options)["matmul"]["perf_cpu_ratio"].is_null());
  EXPECT_TRUE(op_matrix_fragment(make_rounds(6, {.provider = "assay-simd"}),
                                 options)["matmul"]["perf_cpu_ratio"]
                  .is_null());
  auto quick = two_providers();
  for (auto& row : quick) row.provenance.mode = "quick";
  EXPECT_TRUE(op_matrix_fragment(quick, options)["matmul"]["perf_cpu_ratio"].is_null());
  options.quick_rows = true;
  EXPECT_FALSE(op_matrix_fragment(quick, options)["matmul"]["perf_cpu_ratio"].is_null());
  EXPECT_TRUE(op_matrix_fragment({}, options).empty());
}

TEST(OpMatrix, AppliesToTheOperationsOfThatName) {
  const auto fragment = op_matrix_fragment(two_providers(), {.points = {{"matmul", kPoint}}});
  const Json matrix = {
      {"version", 3},
      {"ops",
       {{{"qualname", "lib.linalg.matmul"}, {"jit", "pass"}, {"perf_gpu_ratio", 2}},
        {{"qualname", "lib.other"}, {"perf_cpu_ratio", nullptr}}}}};
  const auto applied = apply_op_matrix(fragment, matrix, {}, "m.json");
  EXPECT_EQ(applied.filled, std::vector<std::string>{"lib.linalg.matmul"});
  EXPECT_NEAR(applied.matrix["ops"][0]["perf_cpu_ratio"].get<double>(), 0.5, 0.01);
  EXPECT_EQ(applied.matrix["ops"][0]["perf_cpu_baseline"], "naive");
  EXPECT_EQ(applied.matrix["ops"][0]["perf_gpu_ratio"], 2);  // not known now: left alone
  EXPECT_EQ(applied.matrix["ops"][0]["jit"], "pass");
  EXPECT_EQ(applied.matrix["ops"][1], matrix["ops"][1]);
  EXPECT_EQ(applied.matrix["version"], 3);
  const auto named = apply_op_matrix(fragment, matrix, {{"matmul", "lib.other"}}, "m.json");
  EXPECT_EQ(named.filled, std::vector<std::string>{"lib.other"});
  const auto nobody = apply_op_matrix(fragment, Json{{"ops", Json::array()}}, {}, "m.json");
  EXPECT_EQ(nobody.unknown, std::vector<std::string>{"matmul"});
  EXPECT_THROW(apply_op_matrix(fragment, Json::array(), {}, "m.json"), UserError);
  EXPECT_THROW(apply_op_matrix(fragment, Json{{"ops", {1}}}, {}, "m.json"), UserError);
}

}  // namespace
}  // namespace assay::lab
