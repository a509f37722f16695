// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/exit_status.h"
#include "cli/arguments/arguments_add.h"

namespace assay::cli {
namespace {

const std::string kMainFooter = R"(Examples:
  assay list                              what can be run here
  assay run semiring_matmul --quick       measure one case at its representative points
  assay time 'sort a.txt' 'sort -S1G a.txt'   which of two commands is faster?
  assay report results/ --out report.md   what all runs so far say
  assay gate --baseline a.db --current b.db   did anything become slower or wrong?

)" + std::string(kExitStatuses) +
                                "\nDocumentation: README.md, docs/";

void add_list(CLI::App& app, ListArguments& a) {
  app.add_option("case", a.cases, "show these cases, or case files, in full");
  app.add_flag("--json", a.json, "print JSON");
  app.footer(R"(Examples:
  assay list                      every suite, case and provider, and what is available here
  assay list semiring_matmul      its parameters and points
  assay list bench.toml           the same of a case file)");
}

void add_run(CLI::App& app, RunArguments& a) {
  app.add_option(
      "case", a.cases,
      "cases to run (see `assay list`), case files (FILE.toml, see `assay new`), or `all` "
      "but those of the harness itself; with --config the names of configurations, or `all`");
  const std::string what = "What to measure";
  app.add_option("--config", a.config,
                 "TOML file of configurations, [configs.NAME]: each a run of its own, labelled so; "
                 "options that are typed go before what it says")
      ->group(what);
  app.add_flag("--quick", a.quick, "representative points, 6 rounds, 0.1 s of steady time")
      ->group(what);
  app.add_option(
         "--points", a.points,
         "`all`, or JSON: an object or a list of objects; keys not given are the "
         "representative point's, \"case\" says which case one is for; @FILE has it in a file")
      ->group(what);
  app.add_option("--providers", a.providers,
                 "only these, separated by commas; name@x is the same one under another name")
      ->delimiter(',')
      ->group(what);
  app.add_option("--skip", a.skip, "not these")->delimiter(',')->group(what);
  app.add_option("--baseline", a.baseline,
                 "whom ratios refer to (the case's own, or the first of --providers)")
      ->group(what);
  app.add_option("--platforms", a.platforms, "cpu (default), cuda")->delimiter(',')->group(what);

  const std::string how = "How to measure";
  add_measure_options(app, a.measure,
                      {.rounds = "attempts of each provider at a point (10)",
                       .budget = "no attempt starts after this time (10m)",
                       .cores = "all over the slots"},
                      how);
  app.add_option("--precision", a.precision,
                 "rounds until every ratio is known to ± this share (1%), looked at after 10, 14, "
                 "20, 28, 40, 56 and 80")
      ->group(how)
      ->excludes("--rounds");
  app.add_option("--batches", a.batches, "batches of an attempt (10)")->group(how);
  app.add_option("--warm-up", a.warm_up, "calls before measuring (2)")->group(how);
  app.add_flag("--flush-l2", a.flush_l2, "on a GPU: its cache is overwritten between calls")
      ->group(how);
  app.add_option("--limit", a.limit, "time after which an attempt is killed (600s)")->group(how);
  app.add_option("--memory", a.memory, "memory an attempt may use (80 % of what is free)")
      ->group(how);
  app.add_option("--cpu-slots", a.cpu_slots, "attempts at the same time, on disjoint cores (1)")
      ->group(how);
  app.add_option("--gpus", a.gpus,
                 "GPUs used at the same time, an attempt on each, with a CPU slot for each (1)")
      ->group(how);
  app.add_option("--settle", a.settle, "pause before each attempt, cores held (0s)")->group(how);
  app.add_option("--tries", a.tries, "tries of an attempt that keeps being excluded (3)")
      ->group(how);
  add_seed(app, "of the order of attempts (0)", [&a](std::uint64_t seed) {
    a.seed = seed;
  })->group(how);
  app.add_flag("--in-process", a.in_process,
               "inside the runner: fast, and never compared with isolated rows")
      ->group(how);

  add_executor_options(app, a.cluster,
                       {.executor = "local, or slurm: points go to nodes of a cluster, each with "
                                    "all its rounds, and rows come back into one journal",
                        .nodes = "most nodes at the same time (as many as there are)",
                        .time = "limit of a job, as sbatch has it: points are packed to fit",
                        .kinds = true});

  const std::string where = "Where it goes";
  app.add_option("--out", a.out, "journal, or folder for it (results/)")->group(where);
  app.add_option(
         "--resume", a.resume,
         "continue this run: its id, or its journal; -: a share of one, from standard input")
      ->group(where);
  app.add_option("--store", a.store,
                 "also into this store, row by row, e.g. sqlite:results/assay.db")
      ->group(where);
  app.add_option("--trace", a.trace, "write a Perfetto trace of each attempt into this folder")
      ->group(where);
  app.add_option("--label", a.label, "a word about this run, kept in its rows")->group(where);
  app.add_option("--commit", a.commit,
                 "of what is measured, where that is not this program (what it was built from)")
      ->group(where);
  app.add_flag("--dry-run", a.dry_run, "print the plan and stop")->group(where);
  app.add_flag("--all", a.all,
               "show what was not measured as rows of the table; with --config and no names also "
               "every configuration")
      ->group(where);
  app.add_flag("--strict", a.strict,
               "for CI: exit with 3 where anything planned was not measured, or not well enough")
      ->group(where);
  app.add_flag("--json", a.json, "print the results as JSON")->group(where);
  app.add_flag("--quiet", a.quiet, "nothing but the table, and what went wrong")->group(where);
  keep_options(app, a.again);
  app.footer(R"(Examples:
  assay run semiring_matmul --quick
  assay run semiring_matmul --points '{"n":1024,"algebra":"log"}' --rounds 20
  assay run semiring_matmul --precision 1% --budget 10m
  assay run bench.toml --quick
  assay run all --quick --dry-run
  assay run --config nightly.toml small large --store sqlite:results/assay.db
  assay run dense_matmul --providers naive,openblas --cores 1 --store sqlite:results/assay.db
  assay run --resume 20260131T120000.000000Z-abc1234
  assay run semiring_matmul --points all --executor slurm --partition short --time 30
  assay run dense_matmul --executor slurm --on-each-kind --out fleet/

A file of configurations has the options above by their names, with _ for -:
  [configs.small]
  cases = ["semiring_matmul", "dense_matmul"]
  points = [{n = 64}, {n = 128}]               or "all", or JSON as typed
  providers = ["naive", "openblas"]            skip, platforms likewise
  rounds = 20                                  quick, precision, batches, warm_up, seed, …
  settle = "1s"                                budget, steady, limit, memory, …)");
}

void add_new(CLI::App& app, NewArguments& a) {
  auto* sub = app.add_subcommand("case", "a case file with a function, a C library and a program");
  sub->add_option("name", a.name, "of the case, and of the folder that is made")->required();
  sub->add_option("--out", a.out, "another folder, which must not be there");
  app.require_subcommand(1);
  app.footer(R"(Examples:
  assay new case softmax                       a folder with an example that runs as it is
  make -C softmax && assay run softmax/softmax.toml --quick)");
}

void add_report(CLI::App& app, ReportArguments& a) {
  app.add_option("source", a.sources, kSourcesHelp);
  app.add_option("--out", a.out, "write the markdown there instead of to standard output");
  app.add_flag("--latest", a.latest, "only the latest run of each provider at each point");
  app.add_flag("--strict", a.strict,
               "for CI: exit with 4 where a result is wrong, 3 where something was not measured");
  app.footer(R"(Examples:
  assay report                                 everything under results/
  assay report results/assay.db --latest --out report.md)");
}

void add_figures(CLI::App& app, FiguresArguments& a) {
  app.add_option("source", a.sources, kSourcesHelp);
  app.add_option("--case", a.cases, "only these cases, separated by commas")->delimiter(',');
  app.add_option("--out", a.out, "folder for the files (figures/)");
  app.add_option("--formats", a.formats, "png,pdf,svg (all three)")->delimiter(',');
  app.add_flag("--all", a.all, "all runs together, not only the latest of each provider and point");
  app.footer(R"(Each figure comes with a .json of the numbers in it.
Examples:
  assay figures results/ --out figures/
  assay figures results/assay.db --case semiring_matmul --formats png)");
}

// The subcommands of `assay store`, each with the store's URL first.
void add_store(CLI::App& app, StoreArguments& a) {
  using Action = StoreArguments::Action;
  const auto action = [&](Action value, const char* name, const char* description) {
    auto* sub = app.add_subcommand(name, description);
    sub->add_option("store", a.url, "e.g. sqlite:results/assay.db")->required();
    sub->callback([&a, value] { a.action = value; });
    return sub;
  };
  action(Action::kIngest, "ingest", "take in journals; what is there already is left alone")
      ->add_option("source", a.sources, "journals or folders of journals")
      ->required();
  auto* latest =
      action(Action::kLatest, "latest", "the latest rows of each provider at each point");
  latest->add_flag("--json", a.json, "print the rows as JSON lines");
  action(Action::kPrune, "prune", "forget all but the newest runs")
      ->add_option("--keep", a.keep, "runs to keep of each provider at each point")
      ->required();
  action(Action::kMerge, "merge", "take in another store")
      ->add_option("source", a.sources, "the other store")
      ->required();
  action(Action::kVerify, "verify", "check every row and the file itself");
  auto* out = action(Action::kExport, "export", "write the journals back, byte for byte");
  out->add_option("--out", a.out, "folder for the journals, or a file with --run")->required();
  out->add_option("--run", a.run, "only this run");
  action(Action::kRebuild, "rebuild", "make the indexed columns anew from the rows")
      ->add_option("source", a.sources, "journals to take in as well");
  auto* repair = app.add_subcommand(
      "repair", "take what is whole out of a damaged journal, and say what was left and why");
  repair->add_option("journal", a.url, "the damaged journal, which stays as it is")->required();
  repair->add_option("--out", a.out, "the new journal (JOURNAL.repaired.jsonl beside it)");
  repair->add_flag("--in-place", a.in_place, "replace the damaged journal instead")
      ->excludes("--out");
  repair->callback([&a] { a.action = Action::kRepair; });
  app.require_subcommand(1);
  app.footer(R"(Examples:
  assay store ingest sqlite:results/assay.db results/
  assay store verify sqlite:results/assay.db
  assay store repair results/20260131T120000.000000Z-abc1234.jsonl
  assay store export sqlite:results/assay.db --out journals/)");
}

void add_doctor(CLI::App& app, DoctorArguments& a) {
  app.add_flag("--json", a.json, "print JSON");
  app.add_option("source", a.sources, "rows whose noise to split: journals, folders, stores");
  app.add_flag("--peaks", a.peaks, "measure this machine's ceilings, and keep them");
  app.footer(R"(Examples:
  assay doctor          what this machine is, how noisy it is, what the harness costs
  assay doctor --peaks  its ceilings as well (some 20 s): rows then tell their fraction of them
  assay doctor results/ where the scatter of these rows comes from)");
}

void add_calibrate(CLI::App& app, CalibrateArguments& a) {
  app.add_flag("--quick", a.quick, "16 comparisons of 10 rounds instead of 50 of 20");
  app.add_option("--comparisons", a.comparisons, "how often to compare something with itself (50)");
  add_measure_options(app, a.measure,
                      {.rounds = "rounds of each comparison (20)", .steady = "50ms"}, "Options");
  app.add_option("--tolerance", a.tolerance, "of the gate that is tried (5%)");
  app.add_option("--case", a.case_name, "another case than the built-in kernels, with --providers");
  app.add_option("--point", a.point, "JSON: parameters of its points, which differ by the seed");
  app.add_option("--providers", a.providers, "which of its providers")->delimiter(',');
  app.add_option("--out", a.out, "keep the rows in this journal");
  app.add_flag("--json", a.json, "print JSON");
  app.footer(
      R"(Measures the same program under two names, again and again: the size of difference that this
machine makes up by itself, and how often the gate would believe it. What it finds is kept under the
machine's fingerprint; gates take the larger of their tolerance and this floor.

Examples:
  assay calibrate             some minutes; leave the machine alone meanwhile
  assay calibrate --quick
  assay calibrate --case dense_matmul --point '{"n":256}' --providers openblas)");
}

// Makes a command known: when it is what was typed, `chosen` becomes its arguments.
template <typename Arguments>
void offer(CLI::App& app, std::optional<Command>& chosen, const char* name, const char* description,
           void (*add)(CLI::App&, Arguments&)) {
  auto* command = app.add_subcommand(name, description);
  const auto arguments = std::make_shared<Arguments>();
  add(*command, *arguments);
  command->final_callback([arguments, &chosen] { chosen = *arguments; });
}

// More would take days, and their plan all the memory.
constexpr int kMostRounds = 100'000;

// What CLI11 is to read, last word first. An expression may begin with an arrow, which it would
// take for an option; an option that is given nothing ("--label=") would take the next word for its
// value.
std::vector<std::string> words_to_parse(int argc, char** argv) {
  std::vector<std::string> words;
  bool are_values = false;  // all that follow
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    are_values = are_values || word == "--";
    const bool is_given_nothing =
        !are_values && word.starts_with("--") && word.find('=') == word.size() - 1;
    if (is_given_nothing) word.pop_back();
    if (argv[1] == std::string_view("einsum") && word.starts_with("->")) word.insert(0, " ");
    words.push_back(std::move(word));
    if (is_given_nothing) words.emplace_back();
  }
  std::ranges::reverse(words);
  return words;
}

}  // namespace

void add_measure_options(CLI::App& app, MeasureArguments& a, const MeasureHelp& help,
                         const std::string& group) {
  add_rounds(app, a.rounds, help.rounds)->group(group);
  if (!help.budget.empty()) app.add_option("--budget", a.budget, help.budget)->group(group);
  app.add_option("--steady", a.steady, "steady time of an attempt (" + help.steady + ")")
      ->group(group);
  app.add_option("--cores", a.cores, "physical cores of an attempt (" + help.cores + ")")
      ->group(group);
  app.add_option("--max-steal", a.max_steal, "steal time that excludes an attempt (2%)")
      ->group(group);
  app.add_option("--max-foreign", a.max_foreign,
                 "other programs' share of its cores that excludes an attempt (2%)")
      ->group(group);
}

// CLI11 would take -1, and what is too large, for the largest number there is.
CLI::Option* add_seed(CLI::App& app, const std::string& help,
                      std::function<void(std::uint64_t)> set) {
  return app.add_option_function<std::string>(
      "--seed",
      [set = std::move(set)](const std::string& text) {
        std::uint64_t seed = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
        if (error != std::errc() || end != text.data() + text.size()) {
          fail("--seed must be an integer from 0 to 2^64 - 1, got '{}'", text);
        }
        set(seed);
      },
      help);
}

CLI::Option* add_rounds(CLI::App& app, std::optional<int>& rounds, const std::string& help) {
  return app.add_option_function<int>(
      "--rounds",
      [&rounds](int value) {
        if (value > kMostRounds) fail("--rounds must be at most {}, got {}", kMostRounds, value);
        rounds = value;
      },
      help);
}

std::variant<Command, int> parse_arguments(
    int argc, char** argv, const std::string& version,
    const std::function<std::string(const std::string&)>& as_typed) {
  CLI::App app("Assay, a laboratory for tensor programs.", "assay");
  app.set_version_flag("--version", version);
  app.footer(kMainFooter);
  app.require_subcommand(1);

  std::optional<Command> chosen;
  offer(app, chosen, "list", "suites, cases, points, providers, and what is available here",
        add_list);
  offer(app, chosen, "run", "measure: each provider in processes of its own, judged, one row each",
        add_run);
  offer(app, chosen, "time", "commands in turn: ratios with intervals, a verdict, memory",
        add_time);
  offer(app, chosen, "new", "an example of a case of your own, that runs as it is", add_new);
  offer(app, chosen, "report", "a markdown report from rows", add_report);
  offer(app, chosen, "figures", "pictures of rows, with the numbers beside them", add_figures);
  offer(app, chosen, "site", "one HTML file with tables and charts of rows", add_site);
  offer(app, chosen, "serve", "the same page, live while a run is in progress", add_serve);
  offer(app, chosen, "store", "a database of many runs", add_store);
  offer(app, chosen, "doctor", "what this machine is, and its noise", add_doctor);
  offer(app, chosen, "calibrate", "A/A runs: the false-alarm rate of the gate, here",
        add_calibrate);
  offer(app, chosen, "compare", "two providers, runs, commits or sources, with intervals",
        add_compare);
  offer(app, chosen, "gate", "did anything become slower or wrong? by exit status, JUnit, JSON",
        add_gate);
  offer(app, chosen, "bars", "what measurements must reach, and whether they do", add_bars);
  offer(app, chosen, "history", "a case from commit to commit, and where it changed", add_history);
  offer(app, chosen, "bundle", "the evidence at one point of a case, for a decision", add_bundle);
  offer(app, chosen, "feed", "figures for documents that others keep", add_feed);
  offer(app, chosen, "import", "rows from the files of other benchmark tools", add_import);
  offer(app, chosen, "export", "rows as CSV, JUnit XML, or a trace of the run's schedule",
        add_export);
  offer(app, chosen, "chip", "the accelerator simulator, used directly", add_chip);
  offer(app, chosen, "transport", "the drift-kinetic solver for flux surfaces, used directly",
        add_transport);
  offer(app, chosen, "einsum", "tensor contractions and decompositions, used directly", add_einsum);
  offer(app, chosen, "compile", "the tensor graph compiler, used directly", add_compile);
  offer(app, chosen, "llm", "language models: made by chance, asked, explained", add_llm);

  refuse_empty_values(app);
  if (as_typed) keep_free_texts(app, as_typed);
  // CLI11 would only say that a subcommand is missing.
  const auto is_first = [&](const CLI::App* command) { return command->check_name(argv[1]); };
  if (argc > 1 && argv[1][0] != '-' && std::ranges::none_of(app.get_subcommands({}), is_first)) {
    fail("unknown command (see assay --help): '{}'", argv[1]);
  }
  try {
    app.parse(words_to_parse(argc, argv));
  } catch (const CLI::Success& e) {  // help and version
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::string message = e.what();
    std::ranges::replace(message, '\n', ' ');
    throw UserError(message + " (see assay --help)");
  }
  check(chosen.has_value(), "a command was parsed");
  return *chosen;
}

}  // namespace assay::cli
