// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/site/many_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/philox.h"

namespace assay::lab::testing_rows {
namespace {

constexpr int kRounds = 6;

struct ExampleCase {
  const char* suite;
  const char* name;
  const char* baseline;
  std::vector<const char*> providers;  // the baseline among them
  std::vector<Json> points;
  double power;  // how work grows with n
};

std::vector<ExampleCase> example_cases() {
  std::vector<ExampleCase> cases = {
      {"semiring",
       "semiring_matmul",
       "reference",
       {"reference", "assay-simd", "naive", "numpy", "torch", "jax"},
       {},
       3},
      {"semiring",
       "ell_aggregate",
       "reference",
       {"reference", "assay-simd", "pyg", "torch"},
       {},
       1},
      {"einsum", "pair_contract", "numpy", {"numpy", "assay", "opt-einsum", "torch"}, {}, 3},
      {"transport", "drift_kinetic", "dense", {"dense", "structured", "mixed"}, {}, 2},
      {"chip", "gemm_pipeline", "closed-form", {"closed-form", "simulated"}, {}, 3},
  };
  for (const int n : {128, 512, 256, 1024, 64, 2048}) {
    for (const char* algebra : {"real", "log", "max_plus"}) {
      cases[0].points.push_back({{"n", n}, {"algebra", algebra}, {"dtype", "f32"}, {"seed", 0}});
    }
  }
  for (const int n : {1000, 10000, 100000}) {
    for (const int degree : {8, 32}) {
      cases[1].points.push_back({{"n", n}, {"degree", degree}, {"dtype", "f32"}, {"seed", 0}});
    }
  }
  for (const int n : {64, 128, 256}) {
    cases[2].points.push_back(
        {{"n", n}, {"expression", "ij,jk->ik"}, {"dtype", "f64"}, {"seed", 0}});
  }
  for (const int n : {425, 1265}) {
    for (const int xi : {20, 40, 80}) {
      cases[3].points.push_back({{"n", n}, {"n_xi", xi}, {"dtype", "f64"}, {"seed", 0}});
    }
  }
  for (const int n : {256, 512}) {
    cases[4].points.push_back({{"n", n}, {"dtype", "f16"}, {"seed", 0}});
  }
  return cases;
}

// Random numbers in the order they are asked for.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : stream_(seed) {}
  double unit() { return unit_interval(stream_[next_++]); }
  // Roughly normal: the sum of six uniform ones, of variance 1/2 together, scaled to 1.
  double normal() {
    double sum = -3;
    for (int i = 0; i < 6; ++i) sum += unit();
    return sum * std::sqrt(2.0);
  }

 private:
  Philox stream_;
  std::uint64_t next_ = 0;
};

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

// How an attempt of this provider ends; most are ok.
struct Ending {
  Status status = Status::kOk;
  const char *phase = "", *code = "";
};

Ending ending_of(const std::string& provider, const ExampleCase& what, const Json& point,
                 int machine, Draws& draws) {
  const int n = point.at("n").get<int>();
  if (provider == "jax" && machine == 1) return {Status::kEnvMissing, "plan", "module_missing"};
  if (provider == "torch" && n >= 100000) return {Status::kOutOfMemory, "cold", "out_of_memory"};
  if (provider == "mixed" && n == 1265 && point.at("n_xi") == 80) {
    return {Status::kWrongResult, "judge", "value"};
  }
  if (provider == "pyg" && machine == 1) return {Status::kSkipped, "plan", "no_device"};
  if (what.suite == std::string("einsum") && provider == "opt-einsum" && n == 256) {
    return {Status::kTimeout, "steady", "timeout"};
  }
  const double chance = draws.unit();
  if (chance < 0.004) return {Status::kExcluded, "steady", "steal"};
  if (chance < 0.005) return {Status::kCrashed, "steady", "signal"};
  return {};
}

// Seconds of one call without noise, a function of case, provider, point and machine.
double true_time(const ExampleCase& what, std::size_t provider, const Json& point, int machine) {
  const double n = point.at("n").get<double>();
  double work = std::pow(n, what.power);
  for (const char* other : {"degree", "n_xi"}) {
    if (point.contains(other)) work *= point.at(other).get<double>();
  }
  if (point.contains("algebra") && point.at("algebra") == "log") work *= 6;
  constexpr double kSpeed[] = {4e9, 2.6e10, 6e8, 3.7e9, 8e9, 9.5e9};
  return work / kSpeed[provider % std::size(kSpeed)] * (machine == 0 ? 1 : 0.8) + 2e-6;
}

std::string time_text(std::int64_t second) {
  return fmt::format("2026-03-{:02}T{:02}:{:02}:{:02}.250000Z", 1 + second / 86400 % 28,
                     second / 3600 % 24, second / 60 % 60, second % 60);
}

}  // namespace

std::vector<std::string> hostile_strings() {
  return {"<script>document.title='broken'</script>",
          "\"><img src=x onerror=\"document.title='broken'\">",
          "</script><script>document.title='broken'</script>",
          "<!--<script>",
          "it's \"quoted\" `back` ${dollar}",
          "right\u202eto left\u202c \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
          "line\u2028separator and \x1b[31mescape\nnew line",
          "<b>bold</b><a href=\"http://example.invalid/\">link</a><br>",
          "__proto__",
          "constructor",
          "=cmd|' /C calc'!A0",
          std::string(10'000, 'W')};
}

Ceilings example_ceilings() {
  Ceilings ceilings;
  ceilings.measured = "2026-03-01T00:00:00Z";
  ceilings.instruction_set = "example";
  for (const int cores : {1, 2}) {
    Ceilings::Group group;
    group.cores = cores;
    group.clock_hz = 3e9;
    for (const auto& [name, rate] : std::map<std::string, double>{{"fma_f32", 9.6e10},
                                                                  {"fma_f64", 4.8e10},
                                                                  {"add_max_f32", 4.8e10},
                                                                  {"exp_f32", 6e9},
                                                                  {"triad", 2e10},
                                                                  {"read_32768", 2e11},
                                                                  {"read_1048576", 8e10}}) {
      group.rates[name] = rate * cores;
    }
    ceilings.groups.push_back(std::move(group));
  }
  return ceilings;
}

std::vector<Row> many_rows(const ManyRows& what) {
  auto cases = example_cases();
  std::vector<Row> rows;
  Draws draws(what.seed);
  const int rows_per_run = std::max(1, what.rows / std::max(1, what.runs));
  for (int run = 0; run < what.runs; ++run) {
    const int machine = run % 3 == 2 ? 1 : 0;
    const auto commit = fmt::format("{:07x}{:033x}", 0x1a2b3c4 + 0x01f3577 * run, run);
    const auto run_id =
        fmt::format("202603{:02}T120000.000000Z-{}", 1 + run % 28, commit.substr(0, 7));
    const double run_factor = 1 + 0.004 * draws.normal();
    int order = 0;
    // Case by case until the run is long enough; every run visits them in the same order, so that
    // each series has a value in nearly every run.
    for (std::size_t step = 0; order < rows_per_run && step < 200; ++step) {
      const auto& c = cases[step % cases.size()];
      const auto index = step / cases.size();
      if (index >= c.points.size()) continue;
      const Json& point = c.points[index];
      for (int round = 0; round < kRounds; ++round) {
        const double round_factor = 1 + 0.006 * draws.normal();
        for (std::size_t p = 0; p < c.providers.size(); ++p) {
          const std::string provider = c.providers[p];
          const auto ending = ending_of(provider, c, point, machine, draws);
          Row row;
          row.run_id = run_id;
          row.suite = c.suite;
          row.case_name = c.name;
          row.point = point;
          row.provider = provider;
          row.platform = "cpu";
          row.machine = machine_of(machine);
          row.cores = 2;
          row.round = round;
          row.order = order++;
          row.status = ending.status;
          double seconds = true_time(c, p, point, machine) * run_factor * round_factor *
                           (1 + 0.008 * draws.normal());
          // What a history is for: our kernel became slower with the fourteenth run, on one
          // machine.
          if (provider.starts_with("assay") && run >= 13 && machine == 0) seconds *= 1.09;
          if (provider == "structured" && draws.unit() < 0.4) seconds *= 1.15;  // two modes
          if (is_measured(row.status)) {
            Json samples = Json::array();
            for (int batch = 0; batch < 10; ++batch) {
              samples.push_back(seconds * (1 + 0.01 * std::fabs(draws.normal())));
            }
            const double bytes = 12 * std::pow(point.at("n").get<double>(), std::min(2.0, c.power));
            row.samples = {{"steady_s", samples}, {"batch_calls", 7}};
            row.metrics = {
                {"steady_time", seconds},
                {"steady_time_min", seconds * 0.99},
                {"steady_time_p10", seconds * 0.993},
                {"steady_time_p95", seconds * 1.04},
                {"steady_time_iqr", seconds * 0.01},
                {"steady_time_n", 10},
                {"cold_time", seconds * 3 + 1e-4},
                {"prepare_time", 0.01 + draws.unit() * 1e-3},
                {"throughput", 1 / seconds},
                {"flop_rate", 2 * std::pow(point.at("n").get<double>(), c.power) / seconds},
                {"bandwidth", bytes / seconds},
                {"fraction_of_limit", std::min(0.95, 0.7 / (1.0 + static_cast<double>(p)))},
                {"harness_overhead", 2.5e-3},
                {"peak_rss_start", 1e7 * (1.0 + static_cast<double>(p))},
                {"peak_rss_cold", 1.2e7 * (1.0 + static_cast<double>(p)) + bytes},
                {"peak_rss_steady", 1.1e7 * (1.0 + static_cast<double>(p)) + bytes}};
            row.work = {{"flops", 2 * std::pow(point.at("n").get<double>(), c.power)},
                        {"bytes", bytes}};
            const bool right = row.status == Status::kOk;
            row.fidelity = {
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
                {"checked",
                 {{"elements", 65536}, {"rows", 256}, {"sampled", false}, {"seed", nullptr}}}};
          }
          if (row.status != Status::kOk) {
            Failure failure;
            failure.phase = ending.phase;
            failure.code = ending.code;
            failure.message = fmt::format("{} at n = {}", ending.code, point.at("n").get<int>());
            failure.stderr_tail = row.status == Status::kCrashed ? "Segmentation fault" : "";
            row.failure = failure.to_json();
          }
          const std::int64_t second = run * 86400 + 43200 + order;
          const auto noise = [&](int add) {
            return Json{{"load", 0.05 + 0.1 * draws.unit()},
                        {"free_memory",
                         12'000'000'000 - 4096 * static_cast<std::int64_t>(1e5 * draws.unit())},
                        {"pages_swapped", 0},
                        {"steal_ticks", 100 + order / 50 + add},
                        {"total_ticks", 150'000 + 110 * order + 100 * add},
                        {"temperature_c", nullptr},
                        {"throttle_events", nullptr},
                        {"free_device_memory", nullptr}};
          };
          row.provenance = {
              {"time_start", time_text(second)},
              {"time_end", time_text(second + 1)},
              {"start_ns", 1'772'366'400'000'000'000 + second * 1'000'000'000},
              {"end_ns", 1'772'366'401'000'000'000 + second * 1'000'000'000},
              {"label", run % 4 == 0 ? "nightly" : ""},
              {"mode", "full"},
              {"assay_version", "0.1.0"},
              {"commit", commit},
              {"branch", "main"},
              {"dirty", run == 5},
              {"binary_sha256", fmt::format("{:064x}", run)},
              {"compiler", run < 6 ? "GNU 12.2.0" : "GNU 12.3.0"},
              {"flags", "-O2 -g1 -DNDEBUG"},
              {"versions", {{"numpy", "1.24.2"}, {"python", "3.11.2"}}},
              {"environment", {{"OMP_NUM_THREADS", "2"}}},
              {"isolation", "process"},
              {"cpus", {0, 1}},
              {"device", nullptr},
              {"order_seed", 7},
              {"baseline", c.baseline},
              {"primary_metric", "steady_time"},
              {"expected_status", provider == "mixed" ? "wrong_result" : "ok"},
              {"unequal_work", provider == "torch" ? Json("weights applied per vertex") : Json()},
              {"orphans_killed", 0},
              {"noise",
               {{"before", noise(0)},
                {"after", noise(1)},
                {"steal_fraction", draws.unit() < 0.02 ? 0.03 : 0.001 * draws.unit()}}},
              {"phases_s",
               {{"prepare", 0.01 + 1e-3 * draws.unit()},
                {"cold", seconds * 3},
                {"warm_up", seconds * 2},
                {"calibrate", 2e-3},
                {"steady", 0.1 + 0.01 * draws.unit()},
                {"output", 1e-3},
                {"report", 1e-4}}},
              {"settings",
               {{"batches", 10}, {"steady_s", 0.1}, {"warm_up_calls", 2}, {"batch_min_s", 0.001}}}};
          row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, row.platform,
                                           row.cores, row.round, row.try_number);
          rows.push_back(std::move(row));
        }
      }
    }
    if (!what.hostile || rows.empty()) continue;
    // One row for each hostile string, with the string everywhere a stranger could put it.
    for (const auto& text : hostile_strings()) {
      Row row = rows.back();
      row.suite = "hostile";
      row.case_name = text;
      row.point = {{"n", 8}, {"dtype", "f32"}, {"seed", 0}, {text, text}};
      row.provider = text;
      row.order = order++;
      row.status = Status::kFailed;
      Failure failure;
      failure.phase = text;
      failure.code = text;
      failure.message = text;
      failure.stderr_tail = text;
      row.failure = failure.to_json();
      row.machine["cpu_model"] = text;
      row.machine["fingerprint"] = "cccc0123456789ab";
      row.provenance["label"] = text;
      row.provenance["environment"][text] = text;
      row.provenance["baseline"] = text;
      row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, row.platform,
                                       row.cores, row.round, row.try_number);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace assay::lab::testing_rows
