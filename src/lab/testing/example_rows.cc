// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/testing/example_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"

namespace assay::lab::testing_rows {

Row example_row(const Spec& spec) {
  Row row;
  row.run_id = spec.run_id;
  row.suite = "semiring";
  row.case_name = spec.case_name;
  row.point = {{"n", spec.n}, {"algebra", "log"}, {"dtype", "f32"}, {"seed", 0}};
  row.provider = spec.provider;
  row.platform = spec.platform;
  row.machine = machine_from_json(Json{{"fingerprint", spec.fingerprint},
                                       {"cpu_model", "Example CPU 3000"},
                                       {"sockets", 1},
                                       {"cores", 2},
                                       {"memory_bytes", std::int64_t{8} << 30},
                                       {"gpus", Json::array()},
                                       {"os", "Debian GNU/Linux 12"},
                                       {"kernel", "6.1.0"},
                                       {"governor", "not available"}});
  row.cores = spec.cores;
  row.round = spec.round;
  row.try_number = spec.try_number;
  row.order = spec.order >= 0 ? spec.order : 10 * spec.round + spec.try_number;
  row.status = spec.status;
  if (spec.status != Status::kOk) {
    Failure failure;
    failure.phase = "steady";
    failure.code = spec.code.empty() ? std::string(name_of(spec.status)) : spec.code;
    failure.message = "an example of what went wrong";
    row.failure = failure;
  }
  if (is_measured(spec.status)) {
    row.metrics = {{"steady_time", spec.time},
                   {"steady_time_min", 0.99 * spec.time},
                   {"steady_time_p95", 1.02 * spec.time},
                   {"throughput", 1 / spec.time},
                   {"fraction_of_limit", 0.25},
                   {"peak_rss_start", 1e7},
                   {"peak_rss_cold", 3e7},
                   {"peak_rss_steady", 2e7}};
    row.metrics["harness_overhead"] = 2.5e-3;
    for (int batch = 0; batch < 10; ++batch) {
      row.samples.lists["steady_s"].push_back(spec.time * (1 + 0.002 * (batch % 5 - 2)));
    }
    row.samples.batch_calls = 64;
    row.work = {{"flops", 524288}, {"bytes", 49152}};
    const bool right = spec.status == Status::kOk;
    row.fidelity = fidelity_from_json(
        Json{{"status", right ? "pass" : "fail"}, {"error", right ? 0.125 : 40.0}});
  }
  row.provenance = provenance_from_json(Json{
      {"time_start", fmt::format("2026-01-01T12:{:02}:{:02}.000000Z", row.round, row.try_number)},
      {"time_end", fmt::format("2026-01-01T12:{:02}:{:02}.500000Z", row.round, row.try_number)},
      {"label", "nightly"},
      {"mode", "quick"},
      {"assay_version", "0.1.0"},
      {"commit", spec.commit},
      {"branch", "main"},
      {"dirty", false},
      {"compiler", "GNU 12.2.0"},
      {"flags", "-O2"},
      {"versions", {{"fmt", "9.1.0"}}},
      {"environment", {{"OMP_NUM_THREADS", "2"}}},
      {"isolation", spec.isolation},
      {"order_seed", 7},
      {"cpus", {0, 1}},
      {"binary_sha256", std::string(64, 'a')},
      {"baseline", "naive"},
      {"primary_metric", "steady_time"},
      {"unequal_work", nullptr},
      {"noise", {{"before", {{"load", 0.1}}}, {"after", {{"load", 0.2}}}, {"steal_fraction", 0.0}}},
      {"settings", {{"batches", 10}, {"steady_s", 0.1}}}});
  row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, row.platform, row.cores,
                                   row.round, row.try_number);
  return row;
}

std::vector<Row> example_rounds(int rounds, double ratio, const Spec& common) {
  std::vector<Row> rows;
  for (int round = 0; round < rounds; ++round) {
    Spec spec = common;
    spec.round = round;
    const double drift = 1 + 0.02 * round, jitter = 1 + 0.01 * (round % 3 - 1);
    spec.time = common.time * drift;
    spec.provider = "naive";
    spec.order = 2 * round;
    rows.push_back(example_row(spec));
    spec.time *= ratio * jitter;
    spec.provider = "simd";
    spec.order = 2 * round + 1;
    rows.push_back(example_row(spec));
  }
  return rows;
}

std::vector<Row> example_history() {
  std::vector<Row> rows;
  const auto add = [&](std::vector<Row> more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  add(example_rounds(10, 0.25));
  add(example_rounds(10, 1.0, {.time = 8e-3, .n = 128}));
  add(example_rounds(6, 0.5, {.time = 2e-3, .fingerprint = "fedcba9876543210", .cores = 4}));
  const auto one = [&](const Spec& spec) { rows.push_back(example_row(spec)); };
  one({.provider = "torch", .status = Status::kEnvMissing, .code = "module_missing"});
  one({.provider = "cuda", .status = Status::kSkipped, .code = "no_device", .platform = "cuda"});
  for (int round = 0; round < 6; ++round) {
    one({.provider = "broken", .round = round, .status = Status::kWrongResult, .code = "value"});
    rows.back().provenance.expected_status = "wrong_result";
    one({.provider = "flaky",
         .time = 1.5e-3,
         .round = round,
         .status = round == 2 ? Status::kCrashed : Status::kOk});
    rows.back().provenance.unequal_work = "applies weights per vertex, the case per edge";
  }
  one({.provider = "simd", .round = 3, .status = Status::kExcluded, .try_number = 1});

  auto other = example_rounds(4, 1.2, {.run_id = "20260102T080000.000000Z-def5678"});
  for (auto& row : other) {
    row.suite = "einsum";
    row.case_name = "contract";
    row.point = {{"rank", 3}, {"seed", 0}};
    row.provenance.dirty = true;
    row.provenance.commit = "def5678";
    auto& noise = row.provenance.noise.emplace();
    noise.before.emplace().load = 3.5;
    noise.steal_fraction = 0.031;
    row.provenance.request = Json{{"cases", {"contract"}},
                                  {"mode", "points"},
                                  {"points", {{"rank", 3}}},
                                  {"providers", {"naive", "simd"}},
                                  {"platforms", {"cpu"}},
                                  {"rounds", 4},
                                  {"order_seed", 12345678901234567890u}};
  }
  add(other);
  return rows;
}

std::vector<Row> example_run(const std::string& run_id, int rounds, int n) {
  std::vector<Row> rows;
  for (int round = 0; round < rounds; ++round) {
    for (const char* provider : {"naive", "simd"}) {
      rows.push_back(example_row({.provider = provider,
                                  .round = round,
                                  .run_id = run_id,
                                  .n = n,
                                  .order = static_cast<int>(rows.size())}));
    }
  }
  return rows;
}

std::string journal_text(const std::vector<Row>& rows) {
  std::string text;
  for (const auto& row : rows) text += row_to_line(row) + "\n";
  return text;
}

std::vector<std::string> lines_of(const std::vector<Row>& rows) {
  std::vector<std::string> lines;
  for (const auto& row : rows) lines.push_back(row_to_line(row));
  return lines;
}

std::string checked_line(std::string text) {
  text.pop_back();
  return fmt::format("{},\"check\":\"{:08x}\"}}", text, crc32c(text + "}"));
}

std::string unchecked_text(const std::string& line) {
  return line.substr(0, line.rfind(",\"check\"")) + "}";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void expect_golden(std::string_view folder, std::string_view name, const std::string& text) {
  const auto path = fmt::format("{}/{}", folder, name);
  if (const char* approve = std::getenv("ASSAY_APPROVE"); approve != nullptr && *approve == '1') {
    write_file_atomically(path, text);
    return;
  }
  EXPECT_EQ(read_small_file(path).value_or("") + "\n", text)
      << "differs from " << path
      << "; if the new text is right, run the test again with ASSAY_APPROVE=1";
}

}  // namespace assay::lab::testing_rows
