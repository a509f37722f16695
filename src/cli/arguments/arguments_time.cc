// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/arguments/arguments_add.h"

namespace assay::cli {

void add_time(CLI::App& app, TimeArguments& a) {
  const auto list = [&](const char* names, std::vector<std::string>& into, const char* help,
                        const std::string& group) {
    app.add_option(names, into, help)->allow_extra_args(false)->group(group);
  };
  app.add_option("command", a.commands, "commands to time, each one argument, run by the shell")
      ->required();

  const std::string what = "What is run";
  list("--label,-n,--command-name", a.labels, "what a command is called; one for each, in order",
       what);
  app.add_option("--baseline", a.baseline, "whom ratios refer to: a label or command (the first)")
      ->group(what);
  app.add_option(
         "-P,--parameter-scan", a.scan,
         "VAR MIN MAX: {VAR} in a command is each number from MIN to MAX; the values of one "
         "command are compared with each other, several commands at each value")
      ->type_name("VAR MIN MAX")
      ->type_size(3)
      ->expected(1)
      ->allow_extra_args(false)
      ->group(what);
  app.add_option("-D,--parameter-step-size", a.step, "of the scan (1)")->group(what);
  app.add_option("-L,--parameter-list", a.lists,
                 "VAR a,b,c: {VAR} is each of these; may be said again for another VAR")
      ->type_name("VAR VALUES")
      ->allow_extra_args(false)
      ->group(what);
  app.add_option("-S,--shell", a.shell, "sh (default), none, or another: PATH, 'bash --norc'")
      ->group(what);
  app.add_flag("-N", a.no_shell, "--shell none: for what takes less than 5 ms")->group(what);
  app.add_option("--input", a.input, "file that a command reads from (nothing to read)")
      ->group(what);
  app.add_option("--output", a.output, "what it prints goes to: null (default), pipe, or a file")
      ->group(what);
  app.add_flag("-i,--ignore-failure", a.ignore_failure, "count runs with any exit status")
      ->group(what);
  list("--check", a.checks,
       "judge: shell command after an attempt's last run; where it fails, the result is wrong and "
       "can win nothing. One for all commands, or one for each",
       what);

  const std::string around = "Around it, untimed, by the shell; one for all commands, or one each";
  list("-p,--prepare", a.prepare, "before every run", around);
  list("-C,--conclude", a.conclude, "after every run", around);
  list("-s,--setup", a.setup, "before the runs of an attempt: once a round, as commands take turns",
       around);
  list("-c,--cleanup", a.cleanup, "after the runs of an attempt", around);

  const std::string how = "How to measure";
  app.add_option("-w,--warm-up,--warmup", a.warm_up,
                 "runs before those that count, in every attempt (0)")
      ->group(how);
  app.add_option("-r,--runs", a.runs, "so many runs of each command, no more and no less")
      ->group(how);
  app.add_option("-m,--min-runs", a.min_runs, "at least so many (10)")->group(how);
  app.add_option("-M,--max-runs", a.max_runs, "at most so many")->group(how);
  add_rounds(app, a.rounds, "attempts of each command, in turn (10)")->group(how);
  app.add_option("--precision", a.precision,
                 "rounds until every ratio is known to ± this share (1%)")
      ->group(how)
      ->excludes("--rounds");
  app.add_option("--budget", a.budget, "no attempt starts after this time (10m)")->group(how);
  app.add_option("--steady", a.steady,
                 "time of an attempt's runs: one where they take longer (0.3s)")
      ->group(how);
  app.add_option("--cores", a.cores, "physical cores of an attempt (all)")->group(how);
  app.add_option("--limit", a.limit, "time after which an attempt is killed (600s)")->group(how);
  app.add_option("--max-steal", a.max_steal, "steal time that excludes an attempt (2%)")
      ->group(how);
  app.add_option("--max-foreign", a.max_foreign,
                 "other programs' share of its cores that excludes an attempt (2%)")
      ->group(how);

  const std::string where = "Where it goes";
  app.add_option("--case", a.case_name, "what history and gate call it (time)")->group(where);
  app.add_option("--out", a.out, "journal, or folder for it (results/)")->group(where);
  app.add_option("--export-json", a.export_json, "every run, in hyperfine's format; - is stdout")
      ->group(where);
  app.add_option("--export-markdown", a.export_markdown, "a table, likewise")->group(where);
  app.add_flag("--json", a.json, "print the results as JSON")->group(where);
  app.add_flag("--quiet", a.quiet, "nothing but the table, and what went wrong")->group(where);
  app.footer(
      R"(Commands take turns, each attempt in a process of its own on its own cores; the ratio to the first
comes with its interval. At least 10 rounds and some 3 s of runs for each command. Where the shell starts
the command, that is measured and taken off. What was asked is kept as a case file in cases/ beside the
journal: `assay run` measures it again, and report, site, history and gate read the rows.

Examples:
  assay time 'sort -n big.txt' 'sort -n --parallel=2 big.txt'
  assay time -N './old --size 100' './new --size 100' -n old -n new --check 'cmp out.bin expected.bin'
  assay time -P threads 1 8 'make -j {threads}' --prepare 'make clean'
  assay time 'grep -c x f' 'rg -c x f' --export-json times.json --precision 1%

Exit status 1: a command failed.)");
}

}  // namespace assay::cli
