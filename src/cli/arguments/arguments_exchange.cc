// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/arguments/arguments_add.h"

namespace assay::cli {

void add_import(CLI::App& app, ImportArguments& a) {
  app.add_option("file", a.files, "files that other tools wrote")->required();
  app.add_option("--format", a.format,
                 "auto (default), google-benchmark, hyperfine, pytest-benchmark, pyperf, nvbench");
  app.add_option("--out", a.out, "journal to write (results/RUN.jsonl, unless --store is given)");
  app.add_option("--store", a.store, "ingest into this store, e.g. sqlite:results/assay.db");
  app.add_option("--suite", a.suite, "suite of the rows (imported)");
  app.add_option("--case", a.case_name,
                 "one case for all benchmarks, whose names become the providers");
  app.add_option("--provider", a.provider, "provider of all rows (what the file says)");
  app.add_option("--commit", a.commit, "commit that was measured (what the file says)");
  app.add_option("--time", a.time,
                 "when it was measured, ISO 8601, for files that do not say (their date)");
  app.add_option("--machine", a.machine, "a name for the machine it was measured on");
  app.add_flag("--here", a.here, "it was measured on this machine");
  app.add_flag("--json", a.json, "print the results as JSON");
  app.footer(R"(Examples:
  ./bench --benchmark_repetitions=10 --benchmark_out=bench.json && assay import bench.json
  hyperfine --export-json t.json 'sort a' 'sort b' && assay import t.json --here --case sorting
  assay import a.json b.json --machine ci-4 --store sqlite:results/assay.db)");
}

void add_export(CLI::App& app, ExportArguments& a) {
  app.add_option("source", a.sources, kSourcesHelp);
  app.add_option("--format", a.format, "csv (default), junit, trace")
      ->check(CLI::IsMember({"csv", "junit", "trace"}));
  app.add_option("--out", a.out, "write there instead of to standard output");
  app.add_option("--run", a.run, "only this run: its id, or the beginning of it");
  app.add_flag("--latest", a.latest, "only the latest run of each provider at each point");
  app.footer(R"(Examples:
  assay export results/ --latest --out rows.csv
  assay export results/assay.db --format junit --out junit.xml
  assay export results/ --run 20260131T12 --format trace --out schedule.json   for ui.perfetto.dev)");
}

void add_bundle(CLI::App& app, BundleArguments& a) {
  app.add_option("case", a.case_name, "the case")->required();
  app.add_option("source", a.sources, kSourcesHelp);
  app.add_option("--point", a.point, "JSON object; keys not given are the representative point's");
  app.add_option("--out", a.out, "write there instead of to standard output");
  app.add_flag("--json", a.json, "JSON instead of markdown");
  app.footer(R"(Examples:
  assay bundle semiring_matmul
  assay bundle semiring_matmul results/assay.db --point '{"algebra":"log","n":512}' --json)");
}

void add_feed(CLI::App& app, FeedArguments& a) {
  auto* sub = app.add_subcommand(
      "op-matrix",
      "perf_{cpu,gpu}_{baseline,ratio} of each operation, at its representative point");
  sub->add_option("source", a.sources, kSourcesHelp);
  sub->add_option("--apply", a.apply, "an operation matrix to fill in; it is not changed");
  sub->add_option("--out", a.out, "where the merged copy goes");
  sub->add_option("--ours", a.ours, "our provider (the fastest that begins with `assay`)");
  sub->add_option("--reference", a.reference, "what it is compared with (the case's baseline)");
  sub->add_option("--point", a.point, "JSON object: other values than the representative point's");
  sub->add_option("--name", a.names, "CASE=QUALNAME where the names differ");
  sub->add_flag("--quick-rows", a.quick_rows, "rows of --quick count as full ones");
  sub->callback([&a] { a.kind = "op-matrix"; });
  sub->footer(R"(Examples:
  assay feed op-matrix results/assay.db
  assay feed op-matrix results/ --apply op_matrix.json --out merged.json)");
  app.require_subcommand(1);
  app.footer(R"(Examples:
  assay feed op-matrix results/ --apply op_matrix.json --out merged.json)");
}

}  // namespace assay::cli
