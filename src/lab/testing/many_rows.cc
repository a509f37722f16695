// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/testing/many_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/record/provider.h"
#include "lab/testing/many_rows_parts.h"

namespace assay::lab::testing_rows {
namespace {

constexpr int kRounds = 6;

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
       {"reference", "reference@again", "assay-simd", "pyg", "torch"},
       {},
       1},
      {"einsum", "pair_contract", "numpy", {"numpy", "assay", "opt-einsum", "torch"}, {}, 3},
      {"transport", "drift_kinetic", "dense", {"dense", "structured", "mixed"}, {}, 2},
      {"chip", "gemm_pipeline", "closed-form", {"closed-form", "simulated"}, {}, 3},
  };
  for (const int n : {128, 512, 1024, 256, 64, 2048}) {
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

ExampleRun example_run(int index, Draws& draws) {
  ExampleRun run;
  run.index = index;
  run.machine = index % 3 == 2 ? 1 : 0;
  run.commit = fmt::format("{:07x}{:033x}", 0x1a2b3c4 + 0x01f3577 * index, index);
  run.id = fmt::format("202603{:02}T120000.000000Z-{}", 1 + index % 28, run.commit.substr(0, 7));
  run.factor = 1 + 0.004 * draws.normal();
  return run;
}

void set_failure(Row& row, const std::string& phase, const std::string& code,
                 const std::string& message, const std::string& tail) {
  Failure failure;
  failure.phase = phase;
  failure.code = code;
  failure.message = message;
  failure.stderr_tail = tail;
  row.failure = failure;
}

void set_attempt_id(Row& row) {
  row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, row.platform, row.cores,
                                   row.round, row.try_number);
}

Row example_attempt(const ExampleRun& run, const ExampleAttempt& a, Draws& draws) {
  const std::string provider = a.of.providers[a.p];
  const auto ending = ending_of(provider, a.of, a.point, run.machine, draws);
  Row row;
  row.run_id = run.id;
  row.suite = a.of.suite;
  row.case_name = a.of.name;
  row.point = a.point;
  row.provider = provider;
  row.platform = "cpu";
  row.machine = machine_from_json(machine_of(run.machine));
  row.cores = 2;
  row.round = a.round;
  row.order = a.order;
  row.status = ending.status;
  if (is_measured(row.status)) add_measurements(row, a, draws);
  if (row.status != Status::kOk) {
    set_failure(row, ending.phase, ending.code,
                fmt::format("{} at n = {}", ending.code, a.point.at("n").get<int>()),
                row.status == Status::kCrashed ? "Segmentation fault" : "");
  }
  row.provenance = provenance_from_json(provenance_of(run, a, provider, draws));
  set_attempt_id(row);
  return row;
}

// All rounds of a case at a point.
void add_point(std::vector<Row>& rows, const ExampleRun& run, const ExampleCase& of,
               const Json& point, int& order, Draws& draws) {
  for (int round = 0; round < kRounds; ++round) {
    const double round_factor = 1 + 0.006 * draws.normal();
    for (std::size_t p = 0; p < of.providers.size(); ++p) {
      const std::string provider = of.providers[p];
      // A thing under another name takes the same time.
      const auto same = std::ranges::find(of.providers, provider_of(provider));
      const auto speed = static_cast<std::size_t>(same - of.providers.begin());
      double seconds = true_time(of, speed, point, run.machine) * run.factor * round_factor *
                       (1 + 0.008 * draws.normal());
      // What a history is for: our kernel became slower with the fourteenth run, on one machine.
      if (provider.starts_with("assay") && run.index >= 13 && run.machine == 0) seconds *= 1.09;
      if (provider == "structured" && draws.unit() < 0.4) seconds *= 1.15;  // two modes
      rows.push_back(example_attempt(run, {of, p, point, round, order++, seconds}, draws));
    }
  }
}

// A row with the text everywhere a stranger could put it, on a machine of its own.
Row hostile_row(Row row, const std::string& text, int order) {
  row.suite = "hostile";
  row.case_name = text;
  row.point = {{"n", 8}, {"dtype", "f32"}, {"seed", 0}, {text, text}};
  row.provider = text;
  row.order = order;
  row.status = Status::kFailed;
  set_failure(row, text, text, text, text);
  row.machine.cpu_model = text;
  row.machine.fingerprint = "cccc0123456789ab";
  row.provenance.label = text;
  (*row.provenance.environment)[text] = text;
  row.provenance.baseline = text;
  set_attempt_id(row);
  return row;
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
  const auto cases = example_cases();
  std::vector<Row> rows;
  Draws draws(what.seed);
  const int rows_per_run = std::max(1, what.rows / std::max(1, what.runs));
  for (int i = 0; i < what.runs; ++i) {
    const auto run = example_run(i, draws);
    int order = 0;
    // Case by case until the run is long enough, the first every other time; every run visits them
    // in the same order, so that each series has a value in nearly every run.
    std::vector<std::size_t> next(cases.size(), 0);
    for (std::size_t step = 0; order < rows_per_run && step < 400; ++step) {
      const auto which = step % 2 == 0 ? 0 : 1 + step / 2 % (cases.size() - 1);
      const auto& of = cases[which];
      if (next[which] < of.points.size()) {
        add_point(rows, run, of, of.points[next[which]++], order, draws);
      }
    }
    if (!what.hostile) continue;
    const Row like = rows.back();
    for (const auto& text : hostile_strings()) rows.push_back(hostile_row(like, text, order++));
  }
  return rows;
}

}  // namespace assay::lab::testing_rows
