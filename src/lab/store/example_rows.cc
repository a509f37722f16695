// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/example_rows.h"

#include <fmt/format.h>

#include "base/philox.h"

namespace assay::lab::store_testing {

Row example_row(const Spec& spec) {
  const Philox noise(static_cast<std::uint64_t>(spec.order), stream_key(spec.provider));
  Row row;
  row.run_id = spec.run_id;
  row.suite = "semiring";
  row.case_name = "semiring_matmul";
  row.point = {{"n", spec.n}, {"algebra", "log"}, {"dtype", "f32"}, {"seed", 0}};
  row.provider = spec.provider;
  row.platform = "cpu";
  row.machine = machine_from_json(Json{{"fingerprint", spec.fingerprint},
                                       {"cpu_model", "Example CPU 3000"},
                                       {"sockets", 1},
                                       {"cores", 2},
                                       {"memory_bytes", std::int64_t{8} << 30},
                                       {"gpus", Json::array()},
                                       {"os", "Debian GNU/Linux 12"},
                                       {"kernel", "6.1.0"},
                                       {"governor", nullptr}});
  row.cores = 2;
  row.round = spec.round;
  row.order = spec.order;
  row.status = spec.status;
  if (spec.status != Status::kOk) {
    Failure failure;
    failure.phase = "steady";
    failure.code = std::string(name_of(spec.status));
    failure.message = "an example of what went wrong";
    row.failure = failure;
  }
  Json samples = Json::array();
  for (std::uint64_t i = 0; i < 20; ++i) samples.push_back(uniform(noise[i], 1e-5, 2e-5));
  row.samples = samples_from_json(Json{{"steady_s", samples}, {"batch", 64}});
  row.metrics = {{"steady_time", uniform(noise[20], 1e-5, 2e-5)},
                 {"steady_time_min", 1e-5},
                 {"steady_time_p95", 1.9e-5},
                 {"cold_time", 3.3e-4},
                 {"flop_rate", 2.5e9},
                 {"peak_rss_start", 1.2e7},
                 {"peak_rss_steady", 1.5e7}};
  row.fidelity = fidelity_from_json(Json{{"status", "pass"},
                                         {"error", 0.0123},
                                         {"max_abs", 1e-6},
                                         {"max_rel", 2e-6},
                                         {"ulp_p50", 1},
                                         {"ulp_max", 4},
                                         {"nan_count", 0},
                                         {"rtol", 1e-5},
                                         {"atol", 1e-6},
                                         {"oracle", "fp64 sum"}});
  row.work = {{"flops", 524288}, {"bytes", 49152}};
  row.provenance = provenance_from_json(
      Json{{"time_start", "2026-01-01T00:00:00.000000Z"},
           {"start_ns", std::int64_t{1767225600000000000} + spec.order},
           {"mode", "quick"},
           {"assay_version", "0.1.0"},
           {"commit", "abc1234"},
           {"dirty", false},
           {"compiler", "GNU 12.2.0"},
           {"flags", "-O2"},
           {"isolation", "process"},
           {"baseline", "naive"},
           {"primary_metric", "steady_time"},
           {"cpus", {0, 1}},
           {"order_seed", 123456789},
           {"branch", "main"},
           {"binary_sha256", std::string(64, 'a')},
           {"versions", {{"fmt", "9.1.0"}, {"highway", "1.0.3"}}},
           {"environment", {{"OMP_NUM_THREADS", "2"}, {"LANG", "C.UTF-8"}}},
           {"label", "nightly"},
           {"unequal_work", nullptr},
           {"noise",
            {{"before", {{"load", 0.1}, {"steal_fraction", 0.0}}},
             {"after", {{"load", 0.2}, {"steal_fraction", 0.0}}}}},
           {"settings", {{"rounds", 10}, {"steady_s", 0.1}, {"limit_s", 600}}}});
  row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, row.platform, row.cores,
                                   row.round, row.try_number);
  return row;
}

std::vector<Row> example_run(const std::string& run_id, int rounds, int n) {
  std::vector<Row> rows;
  for (int round = 0; round < rounds; ++round) {
    for (const char* provider : {"naive", "simd"}) {
      rows.push_back(example_row({.run_id = run_id,
                                  .provider = provider,
                                  .n = n,
                                  .round = round,
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

}  // namespace assay::lab::store_testing
