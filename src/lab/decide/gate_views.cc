// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// A gate's result as others take it: JSON, a table, tests.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/exit_status.h"
#include "base/text.h"
#include "lab/decide/gate.h"
#include "lab/record/fields.h"
#include "lab/record/point.h"
#include "lab/show/exchange/junit.h"
#include "lab/show/terminal/cells.h"
#include "lab/show/terminal/table.h"

namespace assay::lab {
namespace {

Json gated_side_json(const std::optional<MatchSide>& side) {
  if (!side) return nullptr;
  const auto& s = side->summary;
  return {{"status", name_of(s.status)},
          {"failure", s.failure ? to_json(*s.failure) : Json()},
          {"median", value_to_json(s.median)},
          {"attempts", side->values.size()},
          {"runs", s.runs}};
}

Json entry_json(const GateEntry& e) {
  Json json = e.match.key.to_json();
  const auto& n = e.numbers;
  const auto number = [&](double value) { return e.pairing ? number_to_json(value) : Json(); };
  json.update(
      Json{{"metric", e.match.metric},
           {"verdict", outcome_name(e.outcome)},
           {"reason", e.reason},
           {"pairing", e.pairing ? Json(name_of(*e.pairing)) : Json()},
           {"ratio", number(n.ratio)},
           {"low", n.interval ? number_to_json(n.interval->low) : Json()},
           {"high", n.interval ? number_to_json(n.interval->high) : Json()},
           {"p", number(n.p)},
           {"p_adjusted", number(n.p_adjusted)},
           {"rounds", n.rounds},
           {"tolerance", e.tolerance},
           {"calibrated", e.calibrated},
           {"minimum_detectable_effect", number(n.detectable)},
           {"rounds_needed",
            e.pairing && n.rounds_for_tolerance > 0 ? Json(n.rounds_for_tolerance) : Json()},
           {"baseline", gated_side_json(e.match.a)},
           {"current", gated_side_json(e.match.b)}});
  if (e.simple) {
    json["min_ratio"] = number_to_json(e.simple->min_ratio);
    json["p95_ratio"] = number_to_json(e.simple->p95_ratio);
  }
  return json;
}

const char* colour_of(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::kBroken:
    case GateOutcome::kRegressed:
      return kRed;
    case GateOutcome::kPass:
    case GateOutcome::kRecovered:
      return kGreen;
    default:
      return kYellow;
  }
}

constexpr GateOutcome kInWords[] = {
    GateOutcome::kBroken,      GateOutcome::kRegressed, GateOutcome::kUnresolved,
    GateOutcome::kPass,        GateOutcome::kRecovered, GateOutcome::kStillBroken,
    GateOutcome::kNotMeasured, GateOutcome::kNew,       GateOutcome::kDropped};

std::string counts_in_words(const GateResult& result) {
  std::vector<std::string> words;
  for (const auto outcome : kInWords) {
    std::string name = outcome_name(outcome);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (const int n = result.count(outcome); n > 0) words.push_back(fmt::format("{} {}", n, name));
  }
  return words.empty() ? "nothing to judge" : fmt::format("{}", fmt::join(words, ", "));
}

// "gate: passed: 3 pass, 1 dropped (exit status 0; with --strict 3)"
std::string gate_verdict(const GateResult& result) {
  const int status = result.exit_status();
  const int strict = result.exit_status(true);
  return fmt::format("gate: {}: {} (exit status {}{})",
                     status == kFine                              ? "passed"
                     : status != kUnresolved                      ? "FAILED"
                     : result.count(GateOutcome::kUnresolved) > 0 ? "unresolved"
                     : result.shown_nothing()                     ? "nothing shown"
                                                                  : "incomplete",
                     counts_in_words(result), status,
                     strict == status ? "" : fmt::format("; with --strict {}", strict));
}

}  // namespace

std::vector<std::string> gate_notes(const GateResult& result, const std::string& baseline,
                                    const std::string& current) {
  const auto& o = result.options;
  std::vector<std::string> notes;
  notes.push_back(gate_verdict(result));
  if (result.compared_nothing()) {
    notes.push_back(
        "note: no row is on both sides: rows are compared at equal case, point, provider, "
        "platform, "
        "machine, cores and isolation only");
  }
  notes.push_back(fmt::format("note: baseline {}; current {}; a ratio above 1 is worse",
                              fit(printable(baseline), 80), fit(printable(current), 80)));
  if (o.rule == GateRule::kMinP95) {
    notes.push_back(
        "note: rule min-p95: simple limits without an error rate, which noise alone exceeds now "
        "and "
        "then");
    return notes;
  }
  notes.push_back(fmt::format(
      "note: tolerance {:.3g} %, or the machine's A/A floor where that is larger; at most {:.3g} % "
      "chance of even one false alarm{}; intervals at {:.4g} %, not adjusted",
      100 * o.delta, 100 * o.alpha, o.looks > 1 ? fmt::format(", over {} looks", o.looks) : "",
      100 * o.confidence));
  for (const auto& [machine, floor] : result.floors) {
    notes.push_back(fmt::format("note: calibrated: machine {} has an A/A floor of {:.2g} %",
                                fit(printable(machine), 16), 100 * floor));
  }
  if (!result.uncalibrated.empty()) {
    notes.push_back(
        fmt::format("note: uncalibrated: no A/A floor is known for {} (assay calibrate)",
                    plural(std::ssize(result.uncalibrated), "machine")));
  }
  const auto unpaired = std::ranges::count_if(
      result.entries, [](const GateEntry& e) { return e.pairing == Pairing::kUnpaired; });
  if (unpaired > 0) {
    notes.push_back(
        "note: unpaired: the sides were measured apart, so whatever changed on the machine between "
        "them is part of the ratio; assay gate --run measures both together");
  }
  if (!result.dropped.empty()) {
    notes.push_back(
        fmt::format("note: dropped, only in the baseline and not measured: {}",
                    fit(printable(fmt::format("{}", fmt::join(result.dropped, ", "))), 300)));
  }
  if (result.skipped_on_both_sides > 0) {
    notes.push_back(
        fmt::format("note: {} skipped on both sides, not shown", result.skipped_on_both_sides));
  }
  return notes;
}

Json gate_json(const GateResult& result, const std::string& baseline, const std::string& current) {
  Json rows = Json::array(), counts = Json::object(), floors = Json::object();
  for (const auto& entry : result.entries) rows.push_back(entry_json(entry));
  for (const auto outcome : kInWords) counts[outcome_name(outcome)] = result.count(outcome);
  for (const auto& [machine, floor] : result.floors) floors[machine] = number_to_json(floor);
  const auto& o = result.options;
  return {{"baseline", baseline},
          {"current", current},
          {"rule", o.rule == GateRule::kMinP95 ? "min-p95" : "intervals"},
          {"delta", o.delta},
          {"alpha", o.alpha},
          {"looks", o.looks},
          {"confidence", o.confidence},
          {"ratio_is", "current over baseline, above 1 is worse"},
          {"floors", std::move(floors)},
          {"uncalibrated", result.uncalibrated},
          {"dropped", result.dropped},
          {"counts", std::move(counts)},
          {"skipped_on_both_sides", result.skipped_on_both_sides},
          {"exit_status", result.exit_status()},
          {"rows", std::move(rows)}};
}

std::string gate_table(const GateResult& result, const std::string& baseline,
                       const std::string& current, const TableStyle& style) {
  Grid grid;
  grid.columns = {{"provider"},      {"baseline", true, 3},  {"current", true, 3}, {"ratio"},
                  {"how", false, 2}, {"would see", true, 1}, {"verdict"}};
  for (const auto& e : result.entries) {
    const auto& summary = e.match.a ? e.match.a->summary : e.match.b->summary;
    GridRow row;
    row.group = group_title(summary);
    const auto& n = e.numbers;
    std::string ratio = "–";
    if (e.simple) {
      ratio = fmt::format("{} min, {} p95", format_ratio(e.simple->min_ratio),
                          format_ratio(e.simple->p95_ratio));
    } else if (e.pairing) {
      ratio = format_ratio(n.ratio, n.interval);
    }
    row.cells = {fit(printable(e.match.key.provider), kMatchNameWidth),
                 median_text(e.match.a, e.match.metric),
                 median_text(e.match.b, e.match.metric),
                 ratio,
                 e.pairing ? fmt::format("{} {}", n.rounds, name_of(*e.pairing)) : "–",
                 e.pairing && n.rounds > 1 ? fmt::format("≥ {:.2g} %", 100 * n.detectable) : "–"};
    row.cells.push_back(outcome_name(e.outcome));
    row.colour = colour_of(e.outcome);
    grid.rows.push_back(std::move(row));
  }
  for (const auto& e : result.entries) {
    if (e.outcome == GateOutcome::kPass) continue;
    grid.notes.push_back(fmt::format("{}: {} {} {}: {}", outcome_name(e.outcome),
                                     fit(printable(e.match.key.case_name), kMatchNameWidth),
                                     fit(printable(point_label(e.match.key.point)), 80),
                                     fit(printable(e.match.key.provider), kMatchNameWidth),
                                     e.reason));
  }
  for (auto& note : gate_notes(result, baseline, current)) grid.notes.push_back(std::move(note));
  return render_grid(grid, style);
}

std::vector<TestCase> gate_tests(const GateResult& result) {
  std::vector<TestCase> tests;
  for (const auto& e : result.entries) {
    TestCase test = test_of(e.match.key);
    if (e.match.b && e.match.b->summary.median && e.match.metric == "steady_time") {
      test.seconds = *e.match.b->summary.median;
    }
    const auto verdict = std::string(outcome_name(e.outcome));
    test.message = verdict + ": " + e.reason;
    test.details = test.message;
    switch (e.outcome) {
      case GateOutcome::kRegressed:
        test.outcome = TestOutcome::kFailed;
        test.type = "regressed";
        break;
      case GateOutcome::kBroken:
        test.type = name_of(e.match.b->summary.status);
        test.outcome = e.match.b->summary.status == Status::kWrongResult ? TestOutcome::kFailed
                                                                         : TestOutcome::kError;
        break;
      case GateOutcome::kUnresolved:
      case GateOutcome::kStillBroken:
      case GateOutcome::kNotMeasured:
      case GateOutcome::kDropped:
        test.outcome = TestOutcome::kSkipped;
        break;
      case GateOutcome::kPass:
      case GateOutcome::kRecovered:
        test.outcome = TestOutcome::kPassed;
        break;
      case GateOutcome::kNew:
        test.outcome =
            e.match.b->summary.status == Status::kOk ? TestOutcome::kPassed : TestOutcome::kSkipped;
        break;
    }
    tests.push_back(std::move(test));
  }
  return tests;
}

}  // namespace assay::lab
