// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// A/A runs: the same program under two names, so that whatever difference comes out is the
// machine's own.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/measure/run_setup.h"
#include "lab/beside/self_comparison.h"
#include "lab/record/calibration.h"
#include "lab/stats/calibration.h"
#include "lab/stats/detectable.h"

namespace assay::cli {
namespace {

// A short kernel that is all arithmetic, and a plain one that is mostly waiting for memory and
// branches: between them lies what most rows are made of.
constexpr const char* kCase = "semiring_matmul";
constexpr const char* kPoint = R"({"algebra":"real","n":96})";
const std::vector<std::string> kProviders = {"assay-simd", "naive"};

lab::RunRequest request_of(const CalibrateArguments& a) {
  lab::RunRequest r;
  r.cases = {a.case_name.empty() ? kCase : a.case_name};
  const Json base = parse_json(!a.point.empty()      ? a.point
                               : a.case_name.empty() ? kPoint
                                                     : "{}",
                               "--point");
  if (!base.is_object()) fail("--point: expected an object, got {}", canonical_json(base));
  auto providers = a.providers;
  if (providers.empty() && a.case_name.empty()) providers = kProviders;
  if (providers.empty()) fail("--case needs --providers: which of its providers to compare");
  for (const auto& provider : providers) {
    if (provider.find('@') != std::string::npos) {
      fail("--providers: calibrate gives the second name itself, got '{}'", provider);
    }
    r.providers.push_back(provider);
    r.providers.push_back(provider + "@b");
  }
  const int wanted = a.comparisons.value_or(a.quick ? 16 : 50);
  if (wanted < 1) fail("--comparisons must be at least 1, got {}", wanted);
  // Each comparison is a point of its own, which differs from the others by the seed alone.
  const int count = static_cast<int>(providers.size());
  r.mode = "points";
  r.points = Json::array();
  for (int seed = 0; seed < (wanted + count - 1) / count; ++seed) {
    Json point = base;
    point["seed"] = seed;
    r.points.push_back(point);
  }
  r.rounds = a.quick ? 10 : 20;
  r.settings.steady_s = a.quick ? 0.02 : 0.05;
  apply(a.measure, r);
  if (r.rounds < 6) fail("--rounds: an interval needs at least 6, got {}", r.rounds);
  r.settings.batches = lab::kQuickBatches;
  r.order_seed = static_cast<std::uint64_t>(realtime_ns());  // no two calibrations alike
  r.order_seed &= 0xFFFFFFFF;
  r.label = "calibrate";
  return r;
}

lab::Calibration::Share share_of(const lab::Rate& rate) {
  return {rate.count, rate.trials, rate.rate, rate.interval.low, rate.interval.high};
}

lab::Calibration calibration_of(const std::vector<lab::Row>& rows, const lab::RunRequest& request,
                                double tolerance) {
  const auto comparisons = lab::self_comparisons(rows);
  if (comparisons.empty()) {
    throw EnvironmentError("no A/A comparison has six common rounds: see the rows (--out)");
  }
  std::vector<std::vector<double>> differences;
  for (const auto& c : comparisons) differences.push_back(c.d);
  const auto summary = lab::summarise_aa(differences, {.tolerance = tolerance});
  lab::Calibration c;
  c.measured = utc_iso8601(realtime_ns());
  c.comparisons = summary.comparisons;
  c.rounds = request.rounds;
  c.floor = summary.floor;
  c.largest = summary.largest;
  c.sigma_d = summary.sigma_d;
  c.tolerance = tolerance;
  c.false_alarms = share_of(summary.false_alarms);
  c.unresolved = share_of(summary.unresolved);
  c.excludes_one = share_of(summary.excludes_one);
  for (const auto& line : lab::noise_lines(rows, true)) {
    const auto kernel = line.case_name + " " + line.provider;
    const auto bimodal = std::ranges::count_if(comparisons, [&](const lab::SelfComparison& s) {
      return s.case_name == line.case_name && s.provider == line.provider && s.modes;
    });
    c.kernels.push_back(kernel);
    c.noise.push_back({kernel, line.budget.within_process, line.budget.between_processes,
                       line.budget.between_runs, static_cast<int>(bimodal)});
  }
  for (const auto& row : rows) {
    c.load = std::max(c.load, row.provenance.load_before().value_or(0));
  }
  c.settings = lab::settings_to_json(request.settings);
  return c;
}

std::string range_of(const lab::Calibration::Share& s) {
  return fmt::format("{} of {}: {:.1f} % [{:.1f} %, {:.1f} %]", s.count, s.trials, 100 * s.rate,
                     100 * s.low, 100 * s.high);
}

}  // namespace

std::string format_calibration(const lab::Calibration& c) {
  std::string kernels;
  for (const auto& kernel : c.kernels) kernels += (kernels.empty() ? "" : ", ") + kernel;
  std::string text = fmt::format("A/A calibration, measured {}: {} comparisons of {} rounds ({})\n",
                                 c.measured, c.comparisons, c.rounds, kernels);
  const auto line = [&](const char* name, const std::string& words) {
    text += fmt::format("  {:<18} {}\n", name, words);
  };
  line("floor", fmt::format("{:.2f} %: 99th percentile of |median d|; the largest was {:.2f} %",
                            100 * c.floor, 100 * c.largest));
  line("false alarms",
       fmt::format("{}, of the gate at δ = {:g} %", range_of(c.false_alarms), 100 * c.tolerance));
  line("unresolved", range_of(c.unresolved));
  line("intervals", range_of(c.excludes_one) + " do not hold 1, nominal at most 5 %");
  line("detectable",
       fmt::format("{:.2f} % in {} rounds with chance 80 %",
                   100 * lab::minimum_detectable_effect(c.sigma_d, c.rounds), c.rounds));
  line("load", fmt::format("up to {:.2f} before an attempt", c.load));
  const auto sigma = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.2f} %", 100 * *value) : std::string("not available");
  };
  for (const auto& n : c.noise) {
    line("noise",
         fmt::format("{}: within a process {}, between processes {}, between runs {}{}", n.kernel,
                     sigma(n.within_process), sigma(n.between_processes), sigma(n.between_runs),
                     n.bimodal > 0 ? fmt::format("; bimodal in {} comparisons", n.bimodal) : ""));
  }
  return text;
}

int calibrate(const CalibrateArguments& a) {
  const double tolerance = a.tolerance ? parse_share(*a.tolerance, "--tolerance") : 0.05;
  const auto request = request_of(a);
  RunSetup setup;
  RunSetup::catch_interrupts();
  const TemporaryDirectory scratch("assay-calibrate");
  const auto result = lab::start_run(setup.context(), request,
                                     a.out.empty() ? scratch.path() + "/aa.jsonl" : a.out);
  setup.progress().clear_line();
  if (result.interrupted) {
    setup.progress().note("interrupted: nothing was kept");
    return kInterrupted;
  }
  const auto calibration = calibration_of(result.rows, request, tolerance);
  const auto file = lab::save_calibration(result.rows.front().machine.fingerprint, calibration);
  if (a.json) {
    auto json = calibration.to_json();
    json["file"] = file;
    std::fputs((pretty_json(json) + "\n").c_str(), stdout);
  } else {
    std::fputs(format_calibration(calibration).c_str(), stdout);
    std::fputs(fmt::format("kept in {}\n", file).c_str(), stdout);
  }
  return kFine;
}

}  // namespace assay::cli
