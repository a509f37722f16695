// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/attempt_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/clock.h"
#include "base/hash.h"
#include "lab/beside/derive.h"
#include "lab/judge/judge.h"

namespace assay::lab {
namespace {

void set_times(Row& row, std::int64_t start_ns, std::int64_t elapsed_ns) {
  const auto end_ns = start_ns + elapsed_ns;
  row.provenance.start_ns = start_ns;
  row.provenance.end_ns = end_ns;
  row.provenance.duration_s = 1e-9 * static_cast<double>(elapsed_ns);
  row.provenance.time_start = utc_iso8601(start_ns);
  row.provenance.time_end = utc_iso8601(end_ns);
}

void set_failure(Row& row, Status status, const Failure& failure) {
  row.status = status;
  row.failure = failure;
}

// A certificate is about the output; the row's numbers come from the report. They must be the same.
std::optional<Certificate> held_to_report(std::optional<Certificate> certificate,
                                          const WorkerReport& report) {
  if (!certificate || !certificate->wrong.empty()) return certificate;
  const auto said = derive_metrics(report, {});
  for (const auto& [name, value] : certificate->metrics) {
    const auto found = said.find(name);
    if (found == said.end()) {
      certificate->wrong = fmt::format("the report has no {}", name);
    } else if (!(std::abs(found->second - value) <= 1e-12 * std::abs(value))) {
      certificate->wrong =
          fmt::format("the report says {} = {}, the output {}", name, found->second, value);
    }
    if (!certificate->wrong.empty()) break;
  }
  return certificate;
}

// Ceilings are measurements too, and the host of a virtual machine changes its clock by a third
// from one minute to the next: only what is faster by half proves that work was left out. (What is
// faster by less is told as a caveat, lab/beside/caveats.h.)
constexpr double kCeilingSlack = 1.5;

// How far from the machine's limit; beyond it, the work was not done.
void compare_with_limit(Row& row, const Case& definition, const Ceilings& ceilings) {
  const double seconds = row.metric_or_nan("steady_time");
  if (!(seconds > 0)) return;
  std::optional<Ceilings> device;
  if (row.platform != "cpu") {
    const auto& gpu = row.provenance.gpu;
    if (gpu && gpu->name) device = ceilings.on_device(*gpu->name, row.cores);
    if (!device) return;
  }
  const auto limit = definition.limit(row.point, row.cores, device ? *device : ceilings);
  if (!limit) return;
  const double fraction = limit->seconds / seconds;
  row.metrics["fraction_of_limit"] = fraction;
  auto& record = row.provenance.limit.emplace();
  record.seconds = limit->seconds;
  record.ceiling = limit->ceiling;
  record.is_bound = limit->is_bound;
  record.measured = ceilings.measured;
  if (row.status == Status::kOk && limit->is_bound && fraction > kCeilingSlack) {
    const auto message = fmt::format(
        "{:.2f} times as fast as this machine's measured ceiling '{}' allows: {:.3g} s instead of "
        "{:.3g} s",
        fraction, limit->ceiling, seconds, limit->seconds);
    set_failure(row, Status::kWrongResult, {"judge", "impossible_rate", message, {}, {}, ""});
  }
}

}  // namespace

// The phase holds the batches and nothing else (docs/worker_protocol.md), and the worker's clock
// runs on while it waits, for a page, a core or a stopped host; so an honest sum is the phase,
// whatever the machine's speed. What lies between two batches is a few clock readings: only waiting
// for a core just there is not in the sum, and that cannot be longer than others had the cores,
// whose rounding the allowance covers (noise.cc: two ticks). An honest sum is therefore far above
// half of what is left.
std::string impossible_times(const WorkerReport& report, double seen_s, double wall_s,
                             double waited_s) {
  constexpr double kLeastShare = 0.5, kAllowanceS = 0.02, kMostShare = 1.01;
  double said_s = 0;
  for (const double seconds : report.steady_s) {
    said_s += seconds * static_cast<double>(report.batch_calls);
  }
  if (said_s < kLeastShare * seen_s - kAllowanceS - waited_s) {
    return fmt::format(
        "the worker reports {:.3g} s of calls in a phase that took at least {:.3g} s", said_s,
        seen_s);
  }
  if (said_s > kMostShare * wall_s) {
    return fmt::format("the worker reports {:.3g} s of calls in a process that lived {:.3g} s",
                       said_s, wall_s);
  }
  return {};
}

Expectations::Expectations(const Case& definition, const Json& point, std::string_view run_id)
    : definition_(definition), point_(point), draw_(crc32c(run_id)) {}

const std::vector<Expectation>& Expectations::operator()(int set) {
  auto it = by_set_.find(set);
  if (it == by_set_.end()) it = by_set_.emplace(set, definition_.expect(point_, set, draw_)).first;
  return it->second;
}

Row blank_row(const RunFacts& facts, const PointPlan& plan, const Contender& contender, int round,
              int try_number, const std::vector<int>& cpus) {
  const auto& provider = contender.provider;
  Row row;
  row.run_id = facts.run_id;
  row.suite = plan.definition->suite();
  row.case_name = plan.definition->name();
  row.point = plan.point;
  row.provider = contender.name;
  row.platform = contender.platform;
  row.machine = machine_from_json(facts.machine.to_json());
  row.cores = static_cast<int>(cpus.size());
  row.round = round;
  row.try_number = try_number;
  row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, row.platform, row.cores,
                                   round, try_number);
  const auto work = plan.definition->work(plan.point);
  if (!work.empty()) row.work = work;
  row.provenance = facts.provenance;
  auto& p = row.provenance;
  if (const auto own = facts.own_trees.find(row.case_name); own != facts.own_trees.end()) {
    p.commit = own->second.commit;
    p.branch = own->second.branch;
    p.dirty = own->second.dirty;
    p.tree_commit.reset();
  }
  p.label = facts.request.label;
  p.mode = facts.request.mode;
  p.settings = settings_to_json(facts.request.settings);
  p.request = request_to_json(facts.request);
  p.order_seed = facts.request.order_seed;
  p.isolation = facts.request.in_process ? "in-process" : "process";
  p.baseline = plan.baseline;
  p.primary_metric = plan.definition->primary_metric().name;
  if (!provider.unequal_work.empty()) p.unequal_work = provider.unequal_work;
  p.expected_status = name_of(provider.expected_status);
  p.origin = origin_name(provider.origin);
  p.identity = plan.definition->identity();
  p.versions = contender.versions;
  p.cpus = cpus;
  if (facts.calibration) p.calibration = facts.calibration->record();
  if (const auto label = side_of(contender.name); !label.empty()) {
    auto& side = p.side.emplace();
    side.label = label;
    const auto of = std::ranges::find(facts.request.sides, label, &RunSide::label);
    const bool is_listed = of != facts.request.sides.end();
    if (!contender.side_worker.empty()) side.worker_sha256 = contender.side_sha256;
    if (is_listed && of->case_file) {
      const auto& [name, path, sha256] = *of->case_file;
      if (const auto hash = sha256.find(path); hash != sha256.end()) {
        side.case_file_sha256 = hash->second;
      }
    }
    if (side.worker_sha256 || side.case_file_sha256) {  // of another source than this program
      const bool is_known = is_listed && !of->commit.empty();
      p.commit = is_known ? of->commit : "unknown";
      p.dirty = is_known ? std::optional(of->dirty) : std::nullopt;
      p.branch.reset();
      p.tree_commit.reset();
    }
  }
  return row;
}

void fill_row(Row& row, const RunFacts& facts, const Measured& measured, std::size_t point,
              const Case& definition, const Provider& provider, Expectations& expectations,
              bool may_repeat) {
  const auto& outcome = measured.outcome.points[point];
  row.status = outcome.status;
  row.failure = outcome.failure;
  set_times(row, measured.start_ns, measured.elapsed_ns);
  auto& p = row.provenance;
  auto& noise = p.noise.emplace();
  noise.before = moment_from_json(measured.before.to_json());
  noise.after = moment_from_json(measured.after.to_json());
  noise.steal_fraction = steal_fraction(measured.before, measured.after);
  noise.foreign_fraction = foreign_fraction(measured.before, measured.after, measured.own_s);
  p.gpu = measured.gpu;
  if (measured.gpu) p.device = measured.gpu->uuid;
  p.orphans_killed = measured.outcome.process.orphans;
  for (const auto& [name, version] : outcome.report.versions) (*p.versions)[name] = version;
  for (const auto& phase : outcome.report.phases) {
    if (!p.phases_s) p.phases_s.emplace();
    (*p.phases_s)[phase.name] = 1e-9 * static_cast<double>(phase.end_ns - phase.start_ns);
  }

  // What involves no clock cannot be disturbed.
  const bool is_timed = p.origin == origin_name(Origin::kMeasured);
  if (row.status == Status::kOk && is_timed) {
    auto cause = contamination(measured.before, measured.after, measured.own_s,
                               {facts.request.max_steal, facts.request.max_foreign});
    if (!cause && p.gpu) cause = gpu_contamination(*p.gpu);
    // On some machines every attempt is disturbed: rather than nothing, the last try is kept, and
    // says so.
    if (cause && !may_repeat) p.contaminated = *cause;
    if (cause && may_repeat) {
      set_failure(row, Status::kExcluded, {"steady", "contaminated", *cause, {}, {}, ""});
    }
  }
  std::optional<double> from_baseline;
  if (row.status == Status::kOk && !provider.judged) {
    row.fidelity.emplace().status = Fidelity::kNoOracle;
  } else if (row.status == Status::kOk) {
    const auto judged = [&](const std::string& output_file) {
      return judge(
          expectations(kJudgedSet), output_file,
          [&](int set) -> const std::vector<Expectation>& { return expectations(set); },
          held_to_report(definition.certify(row.point, kJudgedSet, provider.id, output_file),
                         outcome.report));
    };
    auto verdict = judged(outcome.output_file);
    const auto again = again_path(outcome.output_file);
    if (verdict.status == Status::kOk && std::filesystem::exists(again)) {
      if (auto second = judged(again); second.status != Status::kOk) {
        second.message = "called again on the same inputs: " + second.message;
        verdict = std::move(second);
      }
    }
    row.fidelity = verdict.fidelity;
    from_baseline = verdict.from_baseline;
    if (verdict.status != Status::kOk) {
      set_failure(row, verdict.status, {"judge", verdict.code, verdict.message, {}, {}, ""});
    }
  }
  const bool is_isolated = !facts.request.in_process;
  if (row.status == Status::kOk && is_timed && is_isolated) {
    const double wall_s = measured.outcome.process.wall_s;
    const double others = *noise.steal_fraction + *noise.foreign_fraction;
    const auto message =
        impossible_times(outcome.report, measured.outcome.steady_seen_s, wall_s, others * wall_s);
    if (!message.empty()) {
      set_failure(row, Status::kWrongResult, {"judge", "impossible_rate", message, {}, {}, ""});
    }
  }
  if (outcome.reported) {
    row.metrics =
        derive_metrics(outcome.report, row.work.value_or(std::map<std::string, double>()));
    if (p.gpu && p.gpu->power_w && row.metrics.contains("steady_time")) {
      row.metrics["energy"] = *p.gpu->power_w * row.metrics["steady_time"];
    }
    if (from_baseline) row.metrics["difference_from_baseline"] = *from_baseline;
    row.samples = samples_of(outcome.report);
    if (facts.ceilings) compare_with_limit(row, definition, *facts.ceilings);
  }
  row.metrics["harness_overhead"] = facts.harness_overhead_s;
}

void refuse_row(Row& row, const Refusal& refusal) {
  set_failure(row, refusal.status, {"plan", refusal.why.code, refusal.why.message, {}, {}, ""});
  set_times(row, realtime_ns(), 0);
}

}  // namespace assay::lab
