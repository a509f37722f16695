// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// `assay time`: writes what it was told as a case file beside the journal, measures that like any
// other, and shows it as people expect of commands.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/measure/generated_case.h"
#include "cli/measure/rounds_note.h"
#include "cli/measure/run_setup.h"
#include "cli/measure/time_case.h"
#include "cli/measure/time_table.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "lab/beside/stopping.h"
#include "lab/decide/exits.h"
#include "lab/run/runner.h"
#include "lab/stats/stopping.h"

namespace assay::cli {
namespace {

constexpr int kUsualRounds = 10;
constexpr double kUsualSteadyS = 0.3;  // of an attempt: 3 s in all, as hyperfine has it
constexpr int kMostRuns = 200;         // of an attempt
constexpr int kMostAsked = 100'000;

void check_count(const std::optional<int>& value, const char* option, int least) {
  if (value && (*value < least || *value > kMostAsked)) {
    fail("{} must be from {} to {}, got {}", option, least, kMostAsked, *value);
  }
}

// Exactly so many runs: a few rounds of several where that divides, so that processes of ours are
// few beside theirs, else as many rounds of one.
void ask_for_runs(int runs, lab::RunRequest& r) {
  for (int rounds = kUsualRounds; rounds <= 2 * kUsualRounds; ++rounds) {
    if (runs % rounds != 0 || runs / rounds < lab::kMinBatches) continue;
    r.rounds = rounds;
    r.settings.batches = runs / rounds;
    r.settings.steady_s = 1e9;  // however long they take
    return;
  }
  r.rounds = runs;
  r.settings.steady_s = 0;
}

void set_runs(const TimeArguments& a, lab::RunRequest& r) {
  check_count(a.runs, "--runs", 1);
  check_count(a.min_runs, "--min-runs", 1);
  check_count(a.max_runs, "--max-runs", 1);
  check_count(a.warm_up, "--warm-up", 0);
  const bool decides = a.runs || a.min_runs || a.max_runs;
  if (decides && (a.rounds || a.precision)) {
    fail("--runs, --min-runs and --max-runs decide the rounds: without --rounds and --precision");
  }
  if (a.runs && (a.min_runs || a.max_runs)) {
    fail("--runs says how many: without --min-runs and --max-runs");
  }
  if (a.min_runs && a.max_runs && *a.min_runs > *a.max_runs) {
    fail("--min-runs is more than --max-runs: {} and {}", *a.min_runs, *a.max_runs);
  }
  if (a.runs) ask_for_runs(*a.runs, r);
  if (a.min_runs) r.rounds = std::max(r.rounds, *a.min_runs);
  if (a.max_runs) {
    r.rounds = std::min(r.rounds, *a.max_runs);
    const int of_attempt = *a.max_runs / r.rounds;
    r.settings.batches = std::clamp(of_attempt, lab::kMinBatches, kMostRuns);
    if (of_attempt < lab::kMinBatches) r.settings.steady_s = 0;  // one run each
  }
}

lab::RunRequest request_of(const TimeArguments& a) {
  lab::RunRequest r;
  r.rounds = kUsualRounds;
  r.settings.warm_up_calls = a.warm_up.value_or(0);
  r.settings.batches = kMostRuns;
  r.settings.steady_s = kUsualSteadyS;
  set_runs(a, r);
  apply({.rounds = a.rounds,
         .cores = a.cores,
         .budget = a.budget,
         .steady = a.steady,
         .max_steal = a.max_steal,
         .max_foreign = a.max_foreign},
        r);
  if (a.precision) {
    r.precision = parse_share(*a.precision, "--precision");
    if (!(r.precision > 0)) fail("--precision must be more than 0, got '{}'", *a.precision);
    r.rounds = lab::kMaxRounds;
  }
  if (a.limit) r.time_limit_s = parse_duration_s(*a.limit, "--limit");
  return r;
}

void check_files(const TimeArguments& a) {
  std::error_code error;
  if (!a.input.empty() &&
      (!std::filesystem::exists(a.input, error) || std::filesystem::is_directory(a.input, error))) {
    fail("--input: no such file: '{}'", a.input);
  }
  for (const auto& [option, path] : {std::pair("--export-json", a.export_json),
                                     {"--export-markdown", a.export_markdown},
                                     {"--output", a.output}}) {
    if (path.empty() || path == "-") continue;
    const auto folder = std::filesystem::path(path).parent_path();
    if (std::filesystem::is_directory(path, error) ||
        (!folder.empty() && !std::filesystem::is_directory(folder, error))) {
      fail("{}: cannot be written: '{}'", option, path);
    }
  }
  if (a.export_json == "-" && (a.export_markdown == "-" || a.json)) {
    fail("one thing goes to standard output: --export-json - or another");
  }
}

// What is measured is kept in rows and shown by everything that shows them, and the list of
// processes shows it meanwhile.
void check_passwords(const TimeArguments& a) {
  for (const auto* texts :
       {&a.commands, &a.checks, &a.prepare, &a.conclude, &a.setup, &a.cleanup}) {
    for (const auto& text : *texts) refuse_password(text);
  }
}

// Puts the case into the request. It is read back before anything is measured, and what its reader
// refuses leaves no file.
void ask_for_case(const TimeArguments& a, const TimedCase& timed, RunSetup& setup,
                  lab::RunRequest& request) {
  const auto journal = std::filesystem::path(a.out.empty() ? "results" : a.out);
  const bool is_journal = journal.extension() == ".jsonl";
  const auto path = write_generated_case((is_journal ? journal.parent_path() : journal).string(),
                                         "time", timed.toml);
  try {
    select_cases(request, setup, {path});
  } catch (const UserError&) {
    std::filesystem::remove(path);
    throw;
  }
}

const lab::Row* first_failure(std::span<const lab::Row> rows) {
  for (const auto& row : rows) {
    const bool is_over = lab::is_measured(row.status) || lab::is_void(row.status) ||
                         row.status == lab::Status::kSkipped;
    if (!is_over) return &row;
  }
  return nullptr;
}

std::string failure_text(const TimedCase& timed, const lab::Row& row) {
  std::string shown = row.provider;
  for (const auto& command : timed.commands) {
    if (command.id == row.provider) shown = command.shown;
  }
  const auto& failure = *row.failure;
  const bool is_its_end = failure.code == "exit_code" || failure.code == "signal";
  return fmt::format("command failed: '{}': {}{}", fit(printable(shown), 200),
                     fit(printable(failure.message), 400),
                     is_its_end ? " (--ignore-failure counts such runs too)" : "");
}

void export_runs(const TimeArguments& a, const std::vector<lab::CommandRuns>& runs) {
  const auto put = [](const std::string& path, const std::string& text) {
    if (path == "-") return print(text);
    if (!path.empty()) write_file_atomically(path, text);
  };
  put(a.export_json, lab::hyperfine_json(runs));
  put(a.export_markdown, lab::hyperfine_markdown(runs));
}

int show(const TimeArguments& a, RunSetup& setup, const TimedCase& timed,
         const lab::RunResult& result, bool has_failed) {
  auto& progress = setup.progress();
  const auto summaries = lab::summarise(result.rows);
  const auto stops = lab::stops_of(result.rows);
  progress.clear_line();
  const auto* failed = first_failure(result.rows);
  if (a.json) {
    print(pretty_json(time_json(timed, result, summaries)) + "\n");
  } else if (!has_failed && !result.rows.empty()) {
    const bool stdout_is_taken = a.export_json == "-" || a.export_markdown == "-";
    const auto table = time_table(timed, result.rows, summaries, stdout_style());
    std::fputs(table.c_str(), stdout_is_taken ? stderr : stdout);
  }
  std::fflush(stdout);
  export_runs(a, command_runs(timed, result.rows, summaries));
  for (const auto& line : lab::stopping_lines(stops)) progress.note(line);
  progress.note(fmt::format("journal: {}", result.journal));
  if (failed != nullptr) {
    std::fputs(fmt::format("assay: {}\n", failure_text(timed, *failed)).c_str(), stderr);
    return kRegression;
  }
  if (result.interrupted) {
    std::fputs(
        fmt::format("interrupted; continue with: assay run --resume {}\n", result.journal).c_str(),
        stderr);
    return kInterrupted;
  }
  return lab::coverage_of(summaries, stops, progress.not_reached(result.rows)).exit_status(false);
}

}  // namespace

int time_commands(const TimeArguments& a) {
  auto request = request_of(a);
  check_files(a);
  check_passwords(a);
  const auto timed = timed_case(a, std::filesystem::current_path().string());
  RunSetup setup;
  auto& progress = setup.progress();
  if (a.quiet) progress.be_quiet();
  ask_for_case(a, timed, setup, request);
  if (request.precision == 0) progress.note_when_planned(what_rounds_can_show(request.rounds));
  // Whoever mistyped one command does not want to wait for the others.
  bool has_failed = false;
  setup.context().on_rows = [&](std::span<const lab::Row> rows) {
    if (first_failure(rows) == nullptr) return;
    has_failed = true;
    RunSetup::stop();
  };
  RunSetup::catch_interrupts();
  const auto result = lab::start_run(setup.context(), request, a.out);
  return show(a, setup, timed, result, has_failed);
}

}  // namespace assay::cli
