// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/compare.h"

#include <cstdio>

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/measure/gate_run.h"
#include "cli/program.h"
#include "cli/rows/selections.h"
#include "cli/terminal.h"
#include "lab/decide/exits.h"

namespace assay::cli {

namespace {

lab::CompareSettings settings_of(const CompareArguments& a) {
  return {.alpha = parse_share(a.alpha, "--alpha"),
          .confidence = parse_share(a.confidence, "--confidence"),
          .effect = parse_share(a.effect, "--effect"),
          .between_runs = parse_share(a.between_runs, "--between-runs")};
}

// `compare --run OLD NEW`: a gate whose every row is shown with its ratio.
int compare_now(const CompareArguments& a) {
  GateArguments g;
  g.run = true;
  g.baseline = a.a;
  g.current = a.b;
  g.cases = a.sources;
  g.quick = a.quick;
  g.providers = a.providers;
  g.points = a.points;
  g.filter = a.filter;
  g.build = a.build;
  g.journals = a.journals;
  g.measure = a.measure;
  auto settings = settings_of(a);
  settings.between_builds = parse_share(a.between_builds, "--between-builds");
  lab::GateOptions options;
  options.delta = parse_share(a.delta, "--delta");
  // A gate asks one way only: with half of it, what it finds is what the table may call slower.
  options.alpha = settings.alpha / 2;
  options.confidence = settings.confidence;
  options.metric = a.metric;
  options.strict = a.strict;
  const auto measured = run_gate(g, options);
  if (!measured) return kInterrupted;
  const auto& [gate, old, now, old_rows, new_rows] = *measured;
  settings.alpha /= gate.options.looks;  // of the same rows, and looked at as often
  const auto comparisons =
      lab::compare_matches(lab::match_rows(old_rows, new_rows, {.metric = a.metric}), settings);
  Json json = lab::comparisons_json(comparisons, old, now, settings);
  json["gate"] = lab::gate_json(gate, old, now);
  const auto text = pretty_json(json) + "\n";
  if (!a.out.empty()) write_file_atomically(a.out, text);
  if (a.json) {
    print(text);
  } else {
    auto table = lab::comparisons_table(comparisons, "OLD", "NEW", settings, stdout_style());
    table += fmt::format("OLD: {}\nNEW: {}\n", old, now);
    for (const auto& line : lab::gate_notes(gate, "OLD", "NEW")) table += line + "\n";
    print(table);
  }
  return gate.exit_status();
}

}  // namespace

int compare(const CompareArguments& a) {
  if (a.run) return compare_now(a);
  const auto settings = settings_of(a);
  const auto reading = reading_for(a.strict);
  const auto rows = read_rows(a.sources, reading);
  auto first = select_side(a.a, rows, a.pool, reading);
  auto second = select_side(a.b, rows, a.pool, reading);
  const auto is_provider = [](const SelectedSide& side) {
    return side.selector.kind == lab::SelectorKind::kProvider;
  };
  if (is_provider(first) != is_provider(second)) {
    fail("a provider is compared with a provider only: {} with {}", first.selector.name,
         second.selector.name);
  }
  refuse_equal_sides(first, second);
  const bool by_provider = is_provider(first);
  if (by_provider && !a.pool) lab::keep_newest_shared_runs(first.rows, second.rows);
  const auto comparisons = lab::compare_matches(
      lab::match_rows(first.rows, second.rows, {.by_provider = by_provider, .metric = a.metric}),
      settings);
  const auto a_name = by_provider ? first.selector.value : first.selector.name;
  const auto b_name = by_provider ? second.selector.value : second.selector.name;
  const auto json =
      pretty_json(lab::comparisons_json(comparisons, a_name, b_name, settings)) + "\n";
  if (!a.out.empty()) write_file_atomically(a.out, json);
  std::fputs(
      a.json
          ? json.c_str()
          : lab::comparisons_table(comparisons, a_name, b_name, settings, stdout_style()).c_str(),
      stdout);
  return lab::exit_status_of(comparisons, a.strict);
}

}  // namespace assay::cli
