// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/testing/many_rows_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/testing/many_rows.h"

namespace assay::lab::testing_rows {
namespace {

std::string time_text(std::int64_t second) {
  return fmt::format("2026-03-{:02}T{:02}:{:02}:{:02}.250000Z", 1 + second / 86400 % 28,
                     second / 3600 % 24, second / 60 % 60, second % 60);
}

Json noise_of(int order, int later, Draws& draws) {
  const auto used = 4096 * static_cast<std::int64_t>(1e5 * draws.unit());
  return {{"load", 0.05 + 0.1 * draws.unit()},
          {"free_memory", 12'000'000'000 - used},
          {"pages_swapped", 0},
          {"steal_ticks", 100 + order / 50 + later},
          {"total_ticks", 150'000 + 110 * order + 100 * later},
          {"temperature_c", nullptr},
          {"throttle_events", nullptr},
          {"free_device_memory", nullptr}};
}

}  // namespace

Json machine_of(int which) {
  return {{"fingerprint", kMachines[which]},
          {"architecture", which == 0 ? "x86_64" : "aarch64"},
          {"cpu_model", which == 0 ? "Example Xeon 3000" : "Example Neoverse V9"},
          {"sockets", 1},
          {"cores", which == 0 ? 2 : 4},
          {"logical_cpus", 4},
          {"memory_bytes", std::int64_t{16} << 30},
          {"gpus", Json::array()},
          {"os", "Debian GNU/Linux 12 (bookworm)"},
          {"kernel", which == 0 ? "6.1.0-18" : "6.1.0-20"},
          {"governor", "performance"},
          {"virtual_machine", which == 0}};
}

void add_measurements(Row& row, const ExampleAttempt& a, Draws& draws) {
  const double n = a.point.at("n").get<double>(), t = a.seconds;
  const double share = 1.0 + static_cast<double>(a.p);
  const double flops = 2 * std::pow(n, a.of.power);
  const double bytes = 12 * std::pow(n, std::min(2.0, a.of.power));
  Json samples = Json::array();
  for (int batch = 0; batch < 10; ++batch) {
    samples.push_back(t * (1 + 0.01 * std::fabs(draws.normal())));
  }
  row.samples = samples_from_json(Json{{"steady_s", samples}, {"batch_calls", 7}});
  row.metrics = {{"steady_time", t},
                 {"steady_time_min", t * 0.99},
                 {"steady_time_p10", t * 0.993},
                 {"steady_time_p95", t * 1.04},
                 {"steady_time_iqr", t * 0.01},
                 {"steady_time_n", 10},
                 {"cold_time", t * 3 + 1e-4},
                 {"prepare_time", 0.01 + draws.unit() * 1e-3},
                 {"throughput", 1 / t},
                 {"flop_rate", flops / t},
                 {"bandwidth", bytes / t},
                 {"fraction_of_limit", std::min(0.95, 0.7 / share)},
                 {"harness_overhead", 2.5e-3},
                 {"peak_rss_start", 1e7 * share},
                 {"peak_rss_cold", 1.2e7 * share + bytes},
                 {"peak_rss_steady", 1.1e7 * share + bytes}};
  row.work = {{"flops", flops}, {"bytes", bytes}};
  const bool right = row.status == Status::kOk;
  row.fidelity = fidelity_from_json(Json{
      {"status", right ? "pass" : "fail"},
      {"error", right ? 0.1 + 0.2 * draws.unit() : 37.5},
      {"max_abs", 1e-6},
      {"max_rel", 1e-5},
      {"ulp_p50", 1.5},
      {"ulp_max", 900.0},
      {"nan_count", 0},
      {"rtol", 2.4e-7},
      {"atol", 2.4e-4},
      {"oracle", "plain loops, accumulated in f64"},
      {"checked", {{"elements", 65536}, {"rows", 256}, {"sampled", false}, {"seed", nullptr}}}});
}

Json provenance_of(const ExampleRun& run, const ExampleAttempt& a, const std::string& provider,
                   Draws& draws) {
  const std::int64_t second = run.index * 86400 + 43200 + a.order;
  constexpr std::int64_t kStart = 1'772'323'200'000'000'000, kSecond = 1'000'000'000;
  return {{"time_start", time_text(second)},
          {"time_end", time_text(second + 1)},
          {"start_ns", kStart + second * kSecond},
          {"end_ns", kStart + (second + 1) * kSecond},
          {"label", run.index % 4 == 0 ? "nightly" : ""},
          {"mode", "full"},
          {"assay_version", "0.1.0"},
          {"commit", run.commit},
          {"branch", "main"},
          {"dirty", run.index == 5},
          {"binary_sha256", fmt::format("{:064x}", run.index)},
          {"compiler", run.index < 12 ? "GNU 12.2.0" : "GNU 12.3.0"},
          {"flags", "-O2 -g1 -DNDEBUG"},
          {"versions", {{"numpy", "1.24.2"}, {"python", "3.11.2"}}},
          {"environment", {{"OMP_NUM_THREADS", "2"}}},
          {"isolation", "process"},
          {"cpus", {0, 1}},
          {"device", nullptr},
          {"order_seed", 7},
          {"baseline", a.of.baseline},
          {"primary_metric", "steady_time"},
          {"expected_status", provider == "mixed" ? "wrong_result" : "ok"},
          {"unequal_work", provider == "torch" ? Json("weights applied per vertex") : Json()},
          {"orphans_killed", 0},
          {"noise",
           {{"before", noise_of(a.order, 0, draws)},
            {"after", noise_of(a.order, 1, draws)},
            {"steal_fraction", draws.unit() < 0.02 ? 0.03 : 0.001 * draws.unit()}}},
          {"phases_s",
           {{"prepare", 0.01 + 1e-3 * draws.unit()},
            {"cold", a.seconds * 3},
            {"warm_up", a.seconds * 2},
            {"calibrate", 2e-3},
            {"steady", 0.1 + 0.01 * draws.unit()},
            {"output", 1e-3},
            {"report", 1e-4}}},
          {"settings",
           {{"batches", 10}, {"steady_s", 0.1}, {"warm_up_calls", 2}, {"batch_min_s", 0.001}}}};
}

}  // namespace assay::lab::testing_rows
