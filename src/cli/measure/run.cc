// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <tuple>

#include "base/error.h"
#include "base/interrupted.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/measure/carried_share.h"
#include "cli/measure/executor.h"
#include "cli/measure/rounds_note.h"
#include "cli/measure/rows_into_store.h"
#include "cli/measure/run_configs.h"
#include "cli/measure/run_plan.h"
#include "cli/measure/run_setup.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "kernels/blas/library.h"
#include "lab/beside/stopping.h"
#include "lab/beside/summary.h"
#include "lab/decide/exits.h"
#include "lab/run/runner.h"
#include "lab/show/markdown/markdown.h"
#include "lab/show/terminal/table.h"
#include "lab/stats/stopping.h"
#include "lab/store/shown_source.h"

namespace assay::cli {
namespace {

lab::RunRequest request_of(RunSetup& setup, const RunArguments& a) {
  lab::RunRequest r;
  select_cases(r, setup, a.cases);
  select_points(r, a.quick, a.points);
  if (a.quick) r.rounds = lab::kQuickRounds;
  r.providers = a.providers;
  r.skip = a.skip;
  r.baseline = a.baseline;
  if (!a.platforms.empty()) r.platforms = a.platforms;
  apply(a.measure, r);
  if (a.precision) {
    r.precision = parse_share(*a.precision, "--precision");
    if (!(r.precision > 0)) fail("--precision must be more than 0, got '{}'", *a.precision);
    r.rounds = lab::kMaxRounds;
  }
  if (a.batches) r.settings.batches = *a.batches;
  if (a.warm_up) r.settings.warm_up_calls = *a.warm_up;
  r.settings.flush_l2 = a.flush_l2;
  if (a.limit) r.time_limit_s = parse_duration_s(*a.limit, "--limit");
  if (a.memory) r.memory_limit = parse_bytes(*a.memory, "--memory");
  if (a.gpus) r.gpus = r.cpu_slots = *a.gpus;
  if (a.cpu_slots) r.cpu_slots = *a.cpu_slots;
  if (a.settle) r.settle_s = parse_duration_s(*a.settle, "--settle");
  if (a.tries) r.max_tries = *a.tries;
  if (a.seed) r.order_seed = *a.seed;
  r.in_process = a.in_process;
  r.label = a.label;
  if (!a.commit.empty()) lab::check_commit(a.commit, "--commit");
  r.commit = a.commit;
  return r;
}

// With --resume the plan is the run's own; cases named beside it must be the same ones.
lab::RunPlace place_to_resume(RunSetup& setup, const RunArguments& a) {
  const auto wait = [&] {  // for whoever still has a share of a run on a cluster
    ::usleep(200'000);
    if (setup.context().stop->load()) {
      throw Interrupted(fmt::format("interrupted while another one had this run: '{}'", a.resume));
    }
    return true;
  };
  auto place =
      a.dry_run ? lab::look_at_place(a.resume, a.out) : lab::find_place(a.resume, a.out, wait);
  setup.own_cases().add_again(place.request);
  lab::RunRequest named;
  if (!a.cases.empty()) select_cases(named, setup, a.cases);
  if (!a.cases.empty() && named.cases != place.request.cases) {
    fail("--resume continues a run of other cases than those named: '{}'", a.resume);
  }
  // A run that spent its budget may get more.
  apply({.budget = a.measure.budget}, place.request);
  return place;
}

// Providers that run in this process would load it once the runner's threads are there, which is
// too late to say which kernels it should take. Where it is missing, its providers say so
// themselves.
void load_openblas_early() {
  try {
    blas::Library::openblas();
  } catch (const EnvironmentError&) {
  }
}

lab::RunResult measure(RunSetup& setup, const RunArguments& a, RowsIntoStore* store) {
  auto& context = setup.context();
  const auto slurm = slurm_asked(a.cluster, context);
  return [&] {
    if (a.resume.empty()) {
      const auto request = request_of(setup, a);
      if (request.in_process) load_openblas_early();
      if (request.precision == 0) {
        setup.progress().note_when_planned(what_rounds_can_show(request.rounds));
      }
      return slurm ? lab::start_slurm_run(context, request, a.out, *slurm)
                   : lab::start_run(context, request, a.out);
    }
    auto place = place_to_resume(setup, a);
    if (place.request.in_process) load_openblas_early();
    if (store != nullptr && std::filesystem::exists(place.journal)) {
      store->take_begun(place.journal);  // what an earlier part has measured
    }
    const bool was_on_slurm = lab::is_slurm_run(place);
    if (was_on_slurm && a.cluster.executor == "local") {
      fail("jobs of Slurm are at this run: it goes on without --executor local: '{}'", a.resume);
    }
    return slurm || was_on_slurm ? lab::resume_slurm_run(context, std::move(place), slurm)
                                 : lab::resume_run(context, std::move(place));
  }();
}

Json result_json(const lab::RunResult& result, const std::vector<lab::Summary>& summaries,
                 const std::vector<lab::PointStop>& stops) {
  auto json = lab::summary_json(result.run_id, result.journal, summaries);
  for (const auto& stop : stops) {
    json["stopping"].push_back(Json{{"case", stop.case_name},
                                    {"point", stop.point},
                                    {"stopping", lab::to_json(stop.stopping)}});
  }
  return json;
}

// One run, shown; its JSON goes to `all` where that is wanted.
int run_one(RunSetup& setup, const RunArguments& a, RowsIntoStore* store, Json& all) {
  auto& progress = setup.progress();
  if (!a.config.empty()) progress.note(fmt::format("configuration {}", a.label));
  if (!a.cluster.kind.empty()) progress.note(fmt::format("nodes of kind {}", a.cluster.kind));
  const auto result = measure(setup, a, store);
  const auto summaries = lab::summarise(result.rows);
  progress.clear_line();
  const auto stops = lab::stops_of(result.rows);
  if (a.json) {
    all.push_back(result_json(result, summaries, stops));
    if (!a.config.empty()) all.back()["label"] = a.label;
  } else {
    auto style = stdout_style();
    style.all = a.all;
    if (!a.config.empty()) print(fmt::format("configuration {}\n", a.label));
    std::fputs(lab::terminal_table(summaries, style).c_str(), stdout);
  }
  std::fflush(stdout);
  for (const auto& line : lab::stopping_lines(stops)) progress.note(line);
  progress.note(fmt::format("journal: {}", result.journal));
  const int stored = store != nullptr ? store->finish(result.journal) : kFine;
  if (result.interrupted) {
    progress.clear_line();
    std::fputs(fmt::format(
                   "interrupted; continue with: assay run --resume {}{}\n", result.journal,
                   a.store.empty() ? "" : " --store " + lab::shell_word(lab::shown_source(a.store)))
                   .c_str(),
               stderr);
    return kInterrupted;
  }
  const auto coverage = lab::coverage_of(summaries, stops, progress.not_reached(result.rows));
  const int status = coverage.exit_status(a.strict);
  if (!coverage.lacks.empty()) {
    const int strict = coverage.exit_status(true);
    progress.note(fmt::format("{}{} (exit status {}{})",
                              status == kFine ? "" : "warning: ", coverage.lacks, status,
                              strict == status ? "" : fmt::format("; with --strict {}", strict)));
  }
  return status == kFine ? stored : status;
}

bool is_one_run(const RunArguments& a) { return a.config.empty() && !a.cluster.on_each_kind; }

// The plans of all runs: a mistake in the last is told before the first is measured.
int plan_all(RunSetup& setup, const std::vector<RunArguments>& runs, bool show) {
  Json list = Json::array();
  for (const auto& a : runs) {
    try {
      const auto request =
          a.resume.empty() ? request_of(setup, a) : place_to_resume(setup, a).request;
      const auto plan = a.cluster.executor == "slurm" ? lab::outline_run(setup.context(), request)
                                                      : lab::plan_run(setup.context(), request);
      list.push_back(plan_json(plan));
      if (!a.config.empty()) list.back()["label"] = a.label;
      if (show && !a.json) {
        if (!a.config.empty()) print(fmt::format("configuration {}\n", a.label));
        print_plan(plan);
      }
    } catch (const UserError& e) {
      if (a.config.empty()) throw;
      fail("{}: [configs.{}]: {}", a.config, a.label, e.what());
    }
  }
  const auto& first = runs.front();
  if (show && first.json) {
    print(pretty_json(is_one_run(first) ? list.front() : list) + "\n");
  }
  return kFine;
}

// Of a survey the kinds, else a command for the configurations that were left out: those from
// `first` on, and those whose nodes do not work.
void tell_not_begun(TerminalProgress& progress, const RunArguments& typed,
                    const std::vector<RunArguments>& runs, std::size_t first) {
  auto words = typed.again;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [kind, works] = std::tie(runs[i].cluster.kind, runs[i].cluster.kind_works);
    if (i < first && works) continue;
    words.push_back(runs[i].label);
    if (!typed.cluster.on_each_kind) continue;
    progress.note(
        fmt::format("not begun: nodes of kind {}{}{}", kind, works ? "" : ", none of which works",
                    typed.config.empty() ? "" : fmt::format(" (configuration {})", runs[i].label)));
  }
  if (typed.cluster.on_each_kind || first >= runs.size()) return;
  std::ranges::transform(words, words.begin(), lab::shell_word);
  progress.note(fmt::format("not begun: {}", fmt::join(words, " ")));
}

}  // namespace

// A node's part of a run that is elsewhere.
int run_carried(RunArguments a) {
  RunSetup setup;
  setup.progress().be_quiet();
  const CarriedShare share;
  a.resume = share.journal();
  setup.context().on_rows = [&](std::span<const lab::Row> rows) {
    if (!share.send(rows)) RunSetup::stop();
  };
  RunSetup::catch_interrupts();
  Json ignored;
  return run_one(setup, a, nullptr, ignored);
}

int run(const RunArguments& typed) {
  if (typed.resume == "-") return run_carried(typed);
  auto runs = typed.config.empty() ? std::vector<RunArguments>{typed} : configured_runs(typed);
  if (typed.cluster.on_each_kind) {
    runs = on_each_kind(typed, runs, RunSetup::catch_interrupts());
  }
  return run_each(typed, runs);
}

int run_each(const RunArguments& typed, const std::vector<RunArguments>& runs) {
  // There may be jobs of it already.
  if (typed.cluster.executor == "slurm" || !typed.resume.empty()) RunSetup::catch_interrupts();
  RunSetup setup;
  auto& progress = setup.progress();
  setup.context().trace_directory = typed.trace;
  if (typed.quiet) progress.be_quiet();
  if (typed.dry_run) return plan_all(setup, runs, true);
  if (!typed.config.empty()) plan_all(setup, runs, false);

  // A store that cannot be opened is refused now, not after an hour of measuring.
  std::optional<RowsIntoStore> store;
  if (!typed.store.empty()) {
    store.emplace(typed.store, progress, *setup.context().stop);
    setup.context().on_rows = [&](std::span<const lab::Row> rows) { store->take(rows); };
  }
  RunSetup::catch_interrupts();
  int status = kFine;
  Json all = Json::array();
  std::size_t next = 0;
  try {
    while (next < runs.size() && status != kInterrupted) {
      const auto& a = runs[next++];
      const bool can = a.cluster.kind_works;
      status = std::max(status, can            ? run_one(setup, a, store ? &*store : nullptr, all)
                                : typed.strict ? kUnresolved
                                               : kFine);
    }
  } catch (const std::exception&) {
    tell_not_begun(progress, typed, runs, next);
    throw;
  }
  tell_not_begun(progress, typed, runs, next);
  if (typed.json) print(pretty_json(is_one_run(typed) ? all.front() : all) + "\n");
  return status;
}

}  // namespace assay::cli
