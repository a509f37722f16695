// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/exchange/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "lab/beside/summary.h"

namespace assay::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<Row> rows_of(std::string_view text, ImportOptions options = {},
                         const Sidecar& sidecar = {}) {
  options.file_name = "f.json";
  auto rows = import_rows(pieces_of(text), "auto", options, sidecar);
  // Whatever comes out must be a row like any other.
  for (const auto& row : rows) {
    const auto back = row_from_line(row_to_line(row), "test");
    EXPECT_EQ(row_to_json(back), row_to_json(row));
    EXPECT_EQ(row.fidelity->status, "not_applicable");
    EXPECT_EQ(row.provenance.interleaved, false);
    EXPECT_FALSE(row.machine.fingerprint.empty());
  }
  return rows;
}

std::string refusal_of(std::string_view text, std::string_view format = "auto") {
  try {
    import_rows(pieces_of(text), format, {.file_name = "f.json"});
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  ADD_FAILURE() << "not refused: " << text;
  return {};
}

constexpr std::string_view kGoogle = R"({
  "context": {"date": "2026-01-31T12:00:00+01:00", "host_name": "h", "executable": "/x/bench",
              "num_cpus": 2, "mhz_per_cpu": 2100, "caches": [], "library_build_type": "release"},
  "benchmarks": [
    {"name": "BM/64", "run_name": "BM/64", "run_type": "iteration", "repetitions": 3, "threads": 1,
     "iterations": 100, "real_time": 2.0, "cpu_time": 1.5, "time_unit": "us",
     "bytes_per_second": 4e9, "foo": 3},
    {"name": "BM/64", "run_name": "BM/64", "run_type": "iteration", "repetitions": 3, "threads": 1,
     "iterations": 100, "real_time": 6.0, "cpu_time": 5.5, "time_unit": "us"},
    {"name": "BM/64", "run_name": "BM/64", "run_type": "iteration", "repetitions": 3, "threads": 1,
     "iterations": 100, "real_time": 3.0, "cpu_time": 2.5, "time_unit": "us"},
    {"name": "BM/64_mean", "run_name": "BM/64", "run_type": "aggregate", "threads": 1,
     "aggregate_name": "mean", "iterations": 3, "real_time": 99, "cpu_time": 9, "time_unit": "us"},
    {"name": "BM_bad", "run_name": "BM_bad", "run_type": "iteration", "threads": 1,
     "error_occurred": true, "error_message": "no <device>", "iterations": 1, "real_time": 0,
     "cpu_time": 0, "time_unit": "ns"},
    {"name": "BM_agg_mean", "run_name": "BM_agg", "run_type": "aggregate", "threads": 2,
     "aggregate_name": "mean", "iterations": 3, "real_time": 5, "cpu_time": 9, "time_unit": "ms"},
    {"name": "BM_agg_median", "run_name": "BM_agg", "run_type": "aggregate", "threads": 2,
     "aggregate_name": "median", "iterations": 3, "real_time": 4, "cpu_time": 9, "time_unit": "ms"}
  ]})";

TEST(Import, GoogleBenchmark) {
  const auto rows = rows_of(kGoogle);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].case_name, "BM/64");
  EXPECT_EQ(rows[0].provider, "bench");
  EXPECT_EQ(rows[0].suite, "imported");
  EXPECT_TRUE(rows[0].run_id.starts_with("20260131T110000.000000Z-"));  // one hour east of UTC
  // One process: one row, and its value is the median of the repetitions.
  EXPECT_DOUBLE_EQ(rows[0].metrics.at("steady_time"), 3e-6);
  EXPECT_DOUBLE_EQ(rows[0].metrics.at("steady_time_min"), 2e-6);
  EXPECT_EQ(rows[0].samples["steady_s"].size(), 3u);
  EXPECT_EQ(rows[0].samples.batch_calls, 100);
  EXPECT_EQ(rows[0].provenance.isolation, "in-process");
  EXPECT_EQ(rows[0].metrics.at("bandwidth"), 4e9);
  EXPECT_EQ(rows[1].status, Status::kFailed);
  EXPECT_EQ(rows[1].failure->message, "no <device>");
  EXPECT_DOUBLE_EQ(rows[2].metrics.at("steady_time"), 4e-3);
  EXPECT_EQ(rows[2].provenance.import->steady_time_is, "the tool's median");
  EXPECT_EQ(rows[2].cores, 2);
  EXPECT_EQ(summarise(rows).size(), 3u);
}

constexpr std::string_view kHyperfine = R"({"results": [
  {"command": "sort a", "mean": 1, "median": 1, "times": [0.5, 0.25], "exit_codes": [0, 0],
   "parameters": {"n": "1"}},
  {"command": "sort b", "times": [1.5, 2.5, 3.5], "exit_codes": [0, 3, null]}]})";

TEST(Import, HyperfineMakesARowOfEveryProcess) {
  const auto rows = rows_of(kHyperfine, {.file_time_ns = 1'700'000'000'000'000'000});
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].metrics.at("steady_time"), 0.5);
  EXPECT_EQ(rows[1].round, 1);
  EXPECT_EQ(rows[0].point, Json({{"n", "1"}}));
  EXPECT_EQ(rows[2].round, 0);
  EXPECT_EQ(rows[3].status, Status::kFailed);
  EXPECT_EQ(rows[3].failure->exit_code, 3);
  EXPECT_EQ(rows[4].status, Status::kCrashed);
  EXPECT_EQ(rows[0].provenance.isolation, "process");
  EXPECT_TRUE(rows[0].run_id.starts_with("20231114T221320.000000Z-"));
  EXPECT_EQ(rows[0].provenance.import->time_from, "the file's date of modification");
}

TEST(Import, ManyProcessesOfOneCommandShareRows) {
  std::string times, codes;
  for (int i = 0; i < 2500; ++i) {
    times += fmt::format("{}{}", i == 0 ? "" : ",", 1 + i);
    codes += fmt::format("{}{}", i == 0 ? "" : ",", i % 2 == 0 ? 0 : 10 + i);
  }
  const auto rows = rows_of(fmt::format(
      R"({{"results":[{{"command":"x","times":[{}],"exit_codes":[{}]}}]}})", times, codes));
  // Three in a row, those that failed by themselves.
  EXPECT_EQ(rows.size(), 2u * 417u);
  std::vector<double> fine;
  std::size_t processes = 0;
  for (const auto& row : rows) {
    processes += row.samples.steady_s().size();
    if (row.status != Status::kOk) continue;
    fine.insert(fine.end(), row.samples.steady_s().begin(), row.samples.steady_s().end());
  }
  EXPECT_EQ(processes, 2500u);
  ASSERT_EQ(fine.size(), 1250u);
  for (std::size_t i = 0; i < fine.size(); ++i) EXPECT_EQ(fine[i], static_cast<double>(1 + 2 * i));
  EXPECT_EQ(rows[0].metrics.at("steady_time"), 3);  // the median of 1, 3 and 5
  EXPECT_EQ(rows[0].provenance.import->details->at("processes"), 3);
  EXPECT_EQ(rows[1].failure->exit_code, 11);
  EXPECT_NE(rows[1].failure->message.find("the first of 3 alike"), std::string::npos);
}

TEST(Import, MoreBenchmarksThanAFileMayHaveAreRefused) {
  std::string results;
  for (int i = 0; i < 10'001; ++i) {
    results += fmt::format(R"({}{{"command":"{}","times":[1]}})", i == 0 ? "" : ",", i);
  }
  EXPECT_THROW(rows_of(R"({"results":[)" + results + "]}"), UserError);
}

TEST(Import, BenchmarksBecomeProvidersOfANamedCase) {
  const auto rows = rows_of(kHyperfine, {.case_name = "sorting"});
  EXPECT_EQ(rows[0].case_name, "sorting");
  EXPECT_EQ(rows[0].provider, "sort a");
  EXPECT_EQ(rows[2].provider, "sort b");
  const auto named = rows_of(kHyperfine, {.provider = "gnu", .commit = "abcdef0123"});
  EXPECT_EQ(named[0].provider, "gnu");
  EXPECT_TRUE(named[0].run_id.ends_with("Z-abcdef0"));
}

TEST(Import, EqualKeysAreRoundsAndNeverCollide) {
  const auto rows = rows_of(kHyperfine, {.case_name = "c", .provider = "p"});
  std::set<std::string> ids;
  for (const auto& row : rows) ids.insert(row.attempt_id);
  EXPECT_EQ(ids.size(), rows.size());
}

TEST(Import, AFileThatSaysNothingOfItsMachineIsComparableWithItselfOnly) {
  const auto one = rows_of(kHyperfine);
  auto other_text = std::string(kHyperfine);
  other_text.replace(other_text.find("0.25"), 4, "0.26");
  EXPECT_NE(one[0].machine.fingerprint, rows_of(other_text)[0].machine.fingerprint);
  EXPECT_EQ(one[0].machine.fingerprint, rows_of(kHyperfine)[0].machine.fingerprint);
  const auto here = rows_of(kHyperfine, {.machine = {{"fingerprint", "abc"}}});
  EXPECT_EQ(here[0].machine.fingerprint, "abc");
}

TEST(Import, ClockSpeedIsNotPartOfTheMachine) {
  auto text = std::string(kGoogle);
  text.replace(text.find("2100"), 4, "3333");
  EXPECT_EQ(rows_of(text)[0].machine.fingerprint, rows_of(kGoogle)[0].machine.fingerprint);
  text.replace(text.find("\"h\""), 3, "\"i\"");
  EXPECT_NE(rows_of(text)[0].machine.fingerprint, rows_of(kGoogle)[0].machine.fingerprint);
}

constexpr std::string_view kPytest = R"({
  "machine_info": {"node": "n", "machine": "x86_64", "system": "Linux", "release": "6.1",
                   "cpu": {"brand_raw": "CPU 1", "count": 4}},
  "commit_info": {"id": "0123456789abcdef", "dirty": true, "branch": "main"},
  "benchmarks": [
    {"group": null, "name": "test_a[1]", "fullname": "t.py::test_a[1]", "params": {"n": 1},
     "extra_info": {}, "options": {},
     "stats": {"min": 1e-6, "max": 3e-6, "median": 2e-6, "iqr": 1e-7, "rounds": 7,
               "iterations": 10}},
    {"name": "test_b", "fullname": "t.py::test_b", "params": null,
     "stats": {"min": 1, "median": 2, "iqr": 0, "rounds": 2, "iterations": 1, "data": [1.0, 3.0]}}],
  "datetime": "2026-01-31T12:00:00.123456+00:00", "version": "4.0.0"})";

TEST(Import, PytestBenchmark) {
  const auto rows = rows_of(kPytest);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].run_id, "20260131T120000.123456Z-0123456");
  EXPECT_EQ(rows[0].case_name, "t.py::test_a[1]");
  EXPECT_EQ(rows[0].point, Json({{"n", 1}}));
  EXPECT_DOUBLE_EQ(rows[0].metrics.at("steady_time"), 2e-6);
  EXPECT_EQ(rows[0].metrics.at("steady_time_n"), 7);
  EXPECT_TRUE(rows[0].samples.lists.empty());
  EXPECT_EQ(rows[1].samples.steady_s(), (std::vector{1.0, 3.0}));
  EXPECT_EQ(rows[1].metrics.at("steady_time"), 2);
  EXPECT_EQ(rows[0].provenance.dirty, true);
  EXPECT_EQ(rows[0].provenance.versions->at("pytest-benchmark"), "4.0.0");
  EXPECT_EQ(rows[0].machine.cpu_model, "CPU 1");
}

constexpr std::string_view kPyperf = R"json({"version": "1.0",
  "metadata": {"name": "b", "unit": "second", "loops": 8, "inner_loops": 2, "cpu_count": 2,
               "cpu_model_name": "CPU 2", "hostname": "h", "python_version": "3.11.2 (64-bit)",
               "python_implementation": "cpython", "perf_version": "2.6.0"},
  "benchmarks": [{"runs": [
    {"metadata": {"date": "2026-01-31 12:00:00.5"}, "warmups": [[1, 0.5]]},
    {"metadata": {"date": "2026-01-31 12:00:01", "mem_max_rss": 1000}, "values": [1.0, 2.0, 9.0]},
    {"metadata": {"date": "2026-01-31 12:00:02"}, "values": [3.0]}]}]})json";

TEST(Import, PyperfMakesARowOfEveryProcessWithValues) {
  const auto rows = rows_of(kPyperf);
  ASSERT_EQ(rows.size(), 2u);  // the run that calibrated is none
  EXPECT_EQ(rows[0].case_name, "b");
  EXPECT_EQ(rows[0].provider, "cpython 3.11.2");
  EXPECT_EQ(rows[0].metrics.at("steady_time"), 2);
  EXPECT_EQ(rows[0].metrics.at("peak_rss_steady"), 1000);
  EXPECT_EQ(rows[0].samples.batch_calls, 16);
  EXPECT_EQ(rows[1].round, 1);
  EXPECT_THAT(rows[0].provenance.import->time_from.value(), HasSubstr("taken for UTC"));
}

TEST(Import, PyperfInBytesIsMemory) {
  auto text = std::string(kPyperf);
  text.replace(text.find("\"second\""), 8, "\"byte\"");
  const auto rows = rows_of(text);
  EXPECT_EQ(rows[0].metrics.at("peak_rss_steady"), 9);
  EXPECT_EQ(rows[0].provenance.primary_metric, "peak_rss_steady");
  EXPECT_FALSE(rows[0].metrics.contains("steady_time"));
  text.replace(text.find("\"byte\""), 6, "\"integer\"");
  EXPECT_THAT(refusal_of(text), HasSubstr("'integer'"));
}

constexpr std::string_view kNvbench = R"({
  "meta": {"argv": ["./bin/bench_copy", "--json", "x"],
           "version": {"json": {"string": "1.0.0"}, "nvbench": {"string": "0.1.0"}}},
  "devices": [{"id": 0, "name": "NVIDIA A", "sm_version": 800, "number_of_sms": 108,
               "global_memory_size": 1000}],
  "benchmarks": [{"name": "copy", "index": 0, "devices": [0], "axes": [],
    "states": [
      {"name": "Device=0 N=2^20", "device": 0,
       "axis_values": [{"name": "N", "type": "int64", "value": "1048576"},
                       {"name": "T", "type": "string", "value": "F32"}],
       "summaries": [
         {"tag": "nv/cold/sample_size", "name": "Samples",
          "data": [{"name": "value", "type": "int64", "value": "3"}]},
         {"tag": "nv/cold/time/gpu/mean", "name": "GPU Time",
          "data": [{"name": "value", "type": "float64", "value": "2.5e-05"}]},
         {"tag": "nv/json/bin:nv/cold/sample_times", "name": "Samples Times File",
          "data": [{"name": "filename", "type": "string", "value": "x-bin/0.bin"},
                   {"name": "size", "type": "int64", "value": "3"}]}],
       "is_skipped": false},
      {"name": "Device=0 N=2^30", "device": 0,
       "axis_values": [{"name": "N", "type": "int64", "value": "1073741824"}],
       "summaries": null, "is_skipped": true, "skip_reason": "not enough memory"}]}]})";

TEST(Import, NvbenchWithItsOwnFigures) {
  const auto rows = rows_of(kNvbench);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].platform, "cuda");
  EXPECT_EQ(rows[0].provider, "bench_copy");
  EXPECT_EQ(rows[0].point, Json({{"N", 1048576}, {"T", "F32"}}));
  EXPECT_DOUBLE_EQ(rows[0].metrics.at("steady_time"), 2.5e-5);
  EXPECT_EQ(rows[0].provenance.import->steady_time_is, "the tool's mean");
  EXPECT_EQ(rows[1].status, Status::kSkipped);
  EXPECT_EQ(rows[1].failure->message, "not enough memory");
  EXPECT_EQ(rows[0].machine.gpus, std::vector<std::string>{"NVIDIA A"});
}

TEST(Import, NvbenchWithSamplesBesideIt) {
  const std::array<float, 3> samples = {1.0f, 2.0f, 4.0f};
  std::string bytes(sizeof samples, '\0');
  std::memcpy(bytes.data(), samples.data(), bytes.size());
  const auto rows = rows_of(kNvbench, {}, [&](const std::string& name) {
    EXPECT_EQ(name, "x-bin/0.bin");
    return bytes;
  });
  EXPECT_EQ(rows[0].metrics.at("steady_time"), 2);
  EXPECT_FALSE(rows[0].provenance.import->steady_time_is);
  bytes.pop_back();
  EXPECT_THROW(rows_of(kNvbench, {}, [&](const std::string&) { return bytes; }), UserError);
}

// Members in any order, and a text that arrives byte by byte, make the same rows.
TEST(Import, MembersBehindTheArraysAreRead) {
  const auto reversed = [](const Json& json) {
    std::string text;
    for (auto it = json.rbegin(); it != json.rend(); ++it) {
      text +=
          (text.empty() ? "{" : ",") + canonical_json(Json(it.key())) + ":" + canonical_json(*it);
    }
    return text + "}";
  };
  for (const auto text : {kGoogle, kHyperfine, kPytest, kPyperf, kNvbench}) {
    const Json json = parse_json(text, "test");
    const auto other = reversed(json);
    const auto torn = import_rows(
        [&](std::size_t offset) { return std::string_view(other).substr(offset, 1); }, "auto",
        {.file_name = "f.json", .commit = "abcdefg", .machine = {{"fingerprint", "m"}}});
    auto rows =
        rows_of(canonical_json(json), {.commit = "abcdefg", .machine = {{"fingerprint", "m"}}});
    ASSERT_EQ(rows.size(), torn.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].provenance.import->file_sha256 = torn[i].provenance.import->file_sha256;
      EXPECT_EQ(row_to_line(rows[i]), row_to_line(torn[i]));
    }
  }
}

// Benchmarks without a single run are looked at like the others, in their order.
TEST(Import, PyperfBenchmarksWithoutRuns) {
  const auto file = [](std::string_view benchmarks) {
    return fmt::format(R"({{"benchmarks":[{}],"version":"1.0"}})", benchmarks);
  };
  const auto named = [](std::string_view name, std::string_view runs, std::string_view more = "") {
    return fmt::format(R"({{"runs":{},"metadata":{{"name":"{}"{}}}}})", runs, name, more);
  };
  const std::string one = R"([{"values":[1.0]}])", bytes = R"(,"unit":"byte")";
  const auto rows = rows_of(file(named("a", "[]") + "," + named("b", one) + "," + named("c", "[]") +
                                 "," + named("d", one)));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].case_name, "b");
  EXPECT_EQ(rows[1].case_name, "d");
  EXPECT_THAT(refusal_of(file(named("a", one) + "," + named("b", "{}"))), HasSubstr("'b'"));
  EXPECT_THAT(refusal_of(file(named("a", one) + "," + named("", "[]"))),
              HasSubstr("without a name"));
  EXPECT_THAT(refusal_of(file(named("a", one) + "," + named("b", "[]", bytes))),
              HasSubstr("different units"));
  EXPECT_THAT(refusal_of(file(named("a", one) + R"(,{"metadata":{"name":"b"}})")),
              HasSubstr("'runs'"));
  EXPECT_THAT(refusal_of(file(named("a", one) + ",3")), HasSubstr("without a name"));
  EXPECT_THAT(refusal_of(file(named("a", R"([{"values":["x"]}])") + "," + named("", "[]"))),
              HasSubstr("is no number"));
}

// What is wrong with the text is said before anything that is wrong with what it says.
TEST(Import, ATornFileIsCalledTorn) {
  EXPECT_THAT(refusal_of(R"({"context":{},"benchmarks":[3)"), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal_of(R"({"version":1,"benchmarks":[{"runs":[{"values":["x"]}]},)"),
              HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal_of(R"({"context":{},"benchmarks":[3,{"name":1,"name":2}]})"),
              HasSubstr("repeated key"));
  EXPECT_THAT(refusal_of(R"({"context":{},"benchmarks":[3],"benchmarks":[]})"),
              HasSubstr("repeated key"));
  EXPECT_THAT(refusal_of(R"({"context":{},"benchmarks":[3,)" + std::string(300, '[')),
              HasSubstr("nested deeper"));
}

TEST(Import, TruncatedAnywhereIsRefused) {
  for (const auto text : {kGoogle, kHyperfine, kPytest, kPyperf, kNvbench}) {
    for (std::size_t size = 0; size < text.find_last_of('}'); size += 7) {
      EXPECT_THAT(refusal_of(text.substr(0, size)), HasSubstr("f.json"));
    }
  }
}

TEST(Import, ForeignFilesAreRefusedWithTheReason) {
  EXPECT_THAT(refusal_of(""), HasSubstr("empty"));
  EXPECT_THAT(refusal_of("name,time\n"), HasSubstr("f.json"));
  EXPECT_THAT(refusal_of("[1, 2]"), HasSubstr("not as google-benchmark"));
  EXPECT_THAT(refusal_of("{\"benchmarks\": 3}"), HasSubstr("not as google-benchmark"));
  EXPECT_THAT(refusal_of(kHyperfine, "pyperf"), HasSubstr("benchmarks"));
  EXPECT_THAT(refusal_of(kHyperfine, "json"), HasSubstr("'json'"));
  EXPECT_THAT(refusal_of("[]", "hyperfine"), HasSubstr("no object"));
  EXPECT_THAT(refusal_of(R"({"results": []})"), HasSubstr("without a single benchmark"));
  EXPECT_THAT(refusal_of(R"({"results": [{"command": "x", "times": [0]}]})"), HasSubstr("'x'"));
  EXPECT_THAT(refusal_of(R"({"results": [{"command": "x", "times": [-1.0]}]})"), HasSubstr("-1"));
  EXPECT_THAT(refusal_of(R"({"results": [{"command": 3, "times": [1]}]})"), HasSubstr("command"));
}

// Every member replaced by something of another type: refused in one line, or still rows; never
// anything else.
void mutate(Json& node, const Json& root, int& refused) {
  for (auto& child : node) {
    for (const Json& other :
         {Json(), Json("text"), Json(-1), Json::array({Json()}), Json(true), Json{{"x", "y"}}}) {
      const Json before = child;
      child = other;
      try {
        const auto text = canonical_json(root);
        import_rows(pieces_of(text), "auto", {.file_name = "f.json"});
      } catch (const UserError& error) {
        EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
        ++refused;
      }
      child = before;
    }
    if (child.is_structured()) mutate(child, root, refused);
  }
}

TEST(Import, AMemberOfAnotherTypeIsRefusedOrHarmless) {
  for (const auto text : {kGoogle, kHyperfine, kPytest, kPyperf, kNvbench}) {
    Json json = parse_json(text, "test");
    int refused = 0;
    mutate(json, json, refused);
    EXPECT_GT(refused, 10);
  }
}

TEST(ParseTime, KnowsZonesAndRefusesNonsense) {
  bool zone = false;
  EXPECT_EQ(parse_time("1970-01-01T00:00:01Z", zone), 1'000'000'000);
  EXPECT_TRUE(zone);
  EXPECT_EQ(parse_time("1970-01-01 00:00:01.25", zone), 1'250'000'000);
  EXPECT_FALSE(zone);
  EXPECT_EQ(parse_time("1970-01-01T01:00:00+01:00", zone), 0);
  EXPECT_EQ(parse_time("1970-01-01T00:00:00-0130", zone), 5'400'000'000'000);
  for (const char* text :
       {"", "x", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01",
        "2026-01-01T25:00:00Z", "2026-01-01T00:00:00X", "9999-01-01T00:00:00Z"}) {
    EXPECT_EQ(parse_time(text, zone), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace assay::lab
