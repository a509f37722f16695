// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/arguments/arguments_add.h"

namespace assay::cli {

namespace {

constexpr const char* kMeasureGroup = "Measuring both sides";
constexpr const char* kComparedHelp = R"(
What OLD and NEW may be, with --run:
  two Google Benchmark programs    every benchmark that both have; --filter REGEX
  two folders and a case file      each provider of old/bench.toml beside that of new/bench.toml
  two case files                   likewise
  two programs or command lines    timed as whole processes, in this folder
  two builds of Assay and cases    an assay-worker, a folder with one, or a git revision

Where case files are compared, points, tolerance and oracle are those of OLD, and its oracle judges both: a
change cannot bring the judge that lets it pass. Files that do not pose the same problem are refused (2), and
so are sides whose oracles give different answers.)";

// What compare --run and gate --run share.
template <typename Arguments>
void add_compared_options(CLI::App& app, Arguments& a) {
  const std::string measure = kMeasureGroup;
  app.add_option("--filter", a.filter, "only benchmarks whose name matches this expression")
      ->group(measure);
  app.add_flag("--quick", a.quick, "representative points, short attempts")->group(measure);
  app.add_option("--points", a.points, "as for assay run")->group(measure);
  app.add_option("--providers", a.providers, "only these")->delimiter(',')->group(measure);
  add_measure_options(app, a.measure,
                      {.rounds = "before the first look (10)",
                       .budget = "for all, rounds of unresolved rows included (10m)"},
                      measure);
  app.add_option("--build", a.build, "shell command that builds build/assay-worker of a revision")
      ->group(measure);
  app.add_option("--journals", a.journals, "folder for the journals (results/)")->group(measure);
}

}  // namespace

void add_compare(CLI::App& app, CompareArguments& a) {
  app.add_option("A", a.a,
                 "a provider, a run, a commit (each by name or unique beginning), a source; with "
                 "--run what is OLD")
      ->required();
  app.add_option("B", a.b, "the same kind; the ratio is B / A")->required();
  app.add_option("source", a.sources,
                 "where rows of providers, runs, commits are (results/); with --run the case file "
                 "of two folders, or cases");
  app.add_option("--metric", a.metric, "compare this one (each case's primary metric)");
  app.add_option("--effect", a.effect, "the effect that `rounds needed` is about (5%)");
  app.add_option("--alpha", a.alpha, "chance of even one false difference in all rows (5%)");
  app.add_option("--between-runs", a.between_runs,
                 "what runs made apart differ by with nothing changed (5%): less is perhaps");
  app.add_option("--confidence", a.confidence, "of the intervals (95%)");
  app.add_flag("--pool", a.pool, "all runs together (the newest of each point)");
  app.add_flag("--strict", a.strict,
               "exit with 3 where any row could not be compared (always where none could)");
  app.add_option("--out", a.out, "also write the JSON there");
  app.add_flag("--json", a.json, "print JSON");
  app.add_flag("--run", a.run, "measure A and B now, in the same rounds; exit status as gate")
      ->group(kMeasureGroup);
  app.add_option("--delta", a.delta, "how much slower is too slow (5%), for the exit status")
      ->group(kMeasureGroup);
  app.add_option("--between-builds", a.between_builds,
                 "what two builds differ by with nothing changed (0.5%): less is perhaps")
      ->group(kMeasureGroup);
  add_compared_options(app, a);
  app.footer(std::string(R"(Examples:
  assay compare naive assay-simd                      two providers, of the newest run with both
  assay compare 20260131T12 20260201T08               two runs
  assay compare 1a2b3c4 5d6e7f8 results/assay.db      two commits of a store
  assay compare old.jsonl new.jsonl --effect 1%       two sources
  assay compare --run build-old/bench build/bench     two builds of a Google Benchmark program
  assay compare --run base/ head/ bench.toml          two checkouts of your own case
  assay compare --run './sort-old f' './sort-new f'   two commands
)") + kComparedHelp +
             R"(

Exit status with --run: as assay gate (0 nothing is worse, 1 slower than --delta allows, 3 unresolved, 4 wrong).)");
}

void add_gate(CLI::App& app, GateArguments& a) {
  app.add_option("--baseline", a.baseline, "a source, a run or a commit; with --run what is OLD");
  app.add_option("--current", a.current, "likewise; with --run this build unless given");
  app.add_option("--source", a.sources, "where rows of runs and commits are (results/)");
  app.add_flag("--dry-run", a.dry_run, "look whether the baseline has rows, and stop");
  const std::string limits = "Thresholds";
  app.add_option("--delta", a.delta, "how much slower is too slow (5%); never below the A/A floor")
      ->group(limits);
  app.add_option("--alpha", a.alpha, "chance of even one false alarm in all rows (5%)")
      ->group(limits);
  app.add_option("--confidence", a.confidence, "of the intervals, which are not adjusted (95%)")
      ->group(limits);
  app.add_option("--rule", a.rule, "intervals (default), min-p95")
      ->check(CLI::IsMember({"intervals", "min-p95"}))
      ->group(limits);
  app.add_option("--metric", a.metric, "gate this one (each case's primary metric)")->group(limits);
  app.add_flag("--pool", a.pool, "all runs of a source together (the newest of each row)")
      ->group(limits);
  app.add_flag(
         "--strict", a.strict,
         "for CI: exit with 3 where a row is new, dropped, not measured or broken on both sides, "
         "or its machine is not calibrated")
      ->group(limits);
  const std::string output = "Output";
  app.add_option("--junit", a.junit, "write JUnit XML there, one test for each row")->group(output);
  app.add_option("--out", a.out, "write the result as JSON there")->group(output);
  app.add_flag("--json", a.json, "print JSON")->group(output);
  app.add_flag("--markdown", a.markdown, "print markdown, for a comment on a pull request")
      ->group(output);
  const std::string measure = kMeasureGroup;
  app.add_flag("--run", a.run, "measure baseline and current now, in the same rounds")
      ->group(measure);
  app.add_option("case", a.cases,
                 "with --run: OLD and NEW, unless --baseline says it; then cases, or `all`, or the "
                 "case file of two folders")
      ->group(measure);
  add_compared_options(app, a);
  add_executor_options(app, a.cluster,
                       {.executor = "local, or with --run slurm: points go to nodes of a cluster, "
                                    "both sides of each to the same one",
                        .nodes = "most nodes at the same time (as many as there are)",
                        .time = "limit of a job, as sbatch has it"});
  app.footer(std::string(R"(Examples:
  assay gate --run base/ head/ bench.toml --markdown > comment.md                       for CI
  assay gate --run build-old/bench build/bench --delta 2%
  assay gate --baseline main.db --dry-run && make bench && assay gate --baseline main.db --current results/
  assay gate --baseline main.db --current results/ --junit gate.xml --out gate.json
  assay gate --baseline main.db --current results/ --markdown --strict > comment.md     for CI
  assay gate --baseline 1a2b3c4 --current 5d6e7f8 --source results/assay.db --delta 3%
  assay gate --run semiring_matmul --quick --baseline origin/main --budget 5m
  assay gate --run dense_matmul --baseline old/assay-worker --providers naive,assay-simd
)") + kComparedHelp +
             R"(

Exit status: 0 passed, 1 something is slower, 3 something is unresolved or nothing was shown, 4 something
that was ok is wrong, crashed, out of memory, timed out or failed (4 before 1 before 3).)");
}

void add_bars(CLI::App& app, BarsArguments& a) {
  app.add_option("file", a.file, "TOML: the bars")->required();
  app.add_option("source", a.sources, kSourcesHelp);
  app.add_flag("--all", a.all, "also bars that no row speaks of");
  app.add_flag("--latest", a.latest, "only the newest run of each provider at each point");
  app.add_flag("--strict", a.strict, "exit with 1, 3 or 4 where a bar is not met");
  app.add_flag("--json", a.json, "print JSON");
  app.add_flag("--markdown", a.markdown, "print a page of tables, the misses in one list");
  app.add_option("--out", a.out, "write there instead of printing");
  app.footer(R"(Examples:
  assay bars docs/bars.toml results/
  assay bars docs/bars.toml docs/performance --markdown --out docs/performance.md
  assay bars ours.toml results/ --latest --strict          for CI

A file of bars, each about one figure, or about a ratio or a difference within rounds:
  title = "Ours"
  [[table]]
  title = "Products"
  case = "semiring_matmul"                                 for all bars of the table
  provider = "assay-simd"
  [[table.bar]]
  what = "real 512, against OpenBLAS"
  point = '{"algebra":"real","n":512}'                     what the point must have
  over = {provider = "openblas"}                           or `minus`
  at_most = 1.1                                            or at_least
  [[table.bar]]
  what = "of the machine's limit, at every point"
  metric = "fraction_of_limit"
  points = "each"                                          or "mean", "total"
  at_least = 0.5

A bar is met where the whole 95 % interval is on its right side, missed where it is on the wrong one, and
open otherwise. Exit status with --strict: 0 all are met, 4 a result is wrong, 1 a bar is missed, 3 one is
open or was not measured (4 before 1 before 3).)");
}

void add_history(CLI::App& app, HistoryArguments& a) {
  app.add_option("case", a.case_name, "the case")->required();
  app.add_option("source", a.sources, kSourcesHelp);
  app.add_option("--provider", a.provider, "only this one");
  app.add_option("--point", a.point, "JSON object: only points with these values");
  app.add_option("--metric", a.metric, "this one (the case's primary metric)");
  app.add_option("--out", a.out, "also write the JSON there");
  app.add_flag("--json", a.json, "print JSON");
  const std::string confirm = "Confirming a change";
  app.add_flag("--confirm", a.confirm, "measure the commits before and after it in the same rounds")
      ->group(confirm);
  app.add_option("--at", a.at, "the change at this commit (the newest one)")->group(confirm);
  app.add_option("--before", a.before, "worker program of the older commit (built from git)")
      ->group(confirm);
  app.add_option("--after", a.after, "worker program of the newer commit (built from git)")
      ->group(confirm);
  app.add_option("--build", a.build, "shell command that builds build/assay-worker of a commit")
      ->group(confirm);
  add_measure_options(app, a.measure,
                      {.rounds = "of the comparison (20)",
                       .budget = "for the comparison (10m)",
                       .cores = "as in the rows"},
                      confirm);
  app.add_option("--journals", a.journals, "folder for the journal (results/)")->group(confirm);
  app.footer(R"(Examples:
  assay history semiring_matmul results/assay.db
  assay history semiring_matmul --provider assay-simd --point '{"algebra":"log"}'
  assay history semiring_matmul --provider assay-simd --confirm --budget 5m)");
}

}  // namespace assay::cli
