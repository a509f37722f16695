// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "lab/show/exchange/junit.h"
#include "lab/testing/decision_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kNow = "20260102T000000.000000Z-bbbbbbb";

std::map<std::string, GateOutcome> outcomes(const GateResult& result) {
  std::map<std::string, GateOutcome> by_provider;
  for (const auto& e : result.entries) by_provider[e.match.key.provider] = e.outcome;
  return by_provider;
}

RowSpec now(RowSpec spec) {
  spec.run_id = kNow;
  return spec;
}

struct Situation {
  std::vector<Row> baseline, current;
  void both(const std::string& provider, Status before, Status after, double ratio = 1,
            int rounds = 12) {
    append(baseline, make_rounds(rounds, {.provider = provider, .status = before}));
    append(current,
           make_rounds(rounds, now({.provider = provider, .time = 1e-3 * ratio, .status = after})));
  }
};

TEST(Gate, EverySituationHasItsVerdict) {
  Situation s;
  s.both("same", Status::kOk, Status::kOk);
  s.both("slower", Status::kOk, Status::kOk, 1.10);
  s.both("faster", Status::kOk, Status::kOk, 0.5);
  s.both("near the tolerance", Status::kOk, Status::kOk, 1.05);
  s.both("now wrong", Status::kOk, Status::kWrongResult);
  s.both("now crashed", Status::kOk, Status::kCrashed);
  s.both("now out of memory", Status::kOk, Status::kOutOfMemory);
  s.both("now late", Status::kOk, Status::kTimeout);
  s.both("now failing", Status::kOk, Status::kFailed);
  s.both("now skipped", Status::kOk, Status::kSkipped);
  s.both("environment gone", Status::kOk, Status::kEnvMissing);
  s.both("recovered", Status::kWrongResult, Status::kOk);
  s.both("still wrong", Status::kWrongResult, Status::kWrongResult);
  s.both("never tried", Status::kSkipped, Status::kSkipped);
  s.both("now tried", Status::kSkipped, Status::kOk);
  s.both("interrupted", Status::kOk, Status::kInterrupted);
  append(s.baseline, make_rounds(12, {.provider = "dropped"}));
  append(s.current, make_rounds(12, now({.provider = "new"})));
  const auto result = judge_gate(s.baseline, s.current, {});
  using enum GateOutcome;
  const std::map<std::string, GateOutcome> expected = {{"same", kPass},
                                                       {"slower", kRegressed},
                                                       {"faster", kPass},
                                                       {"near the tolerance", kUnresolved},
                                                       {"now wrong", kBroken},
                                                       {"now crashed", kBroken},
                                                       {"now out of memory", kBroken},
                                                       {"now late", kBroken},
                                                       {"now failing", kBroken},
                                                       {"now skipped", kNotMeasured},
                                                       {"environment gone", kNotMeasured},
                                                       {"recovered", kRecovered},
                                                       {"still wrong", kStillBroken},
                                                       {"now tried", kNew},
                                                       {"interrupted", kUnresolved},
                                                       {"dropped", kDropped},
                                                       {"new", kNew}};
  EXPECT_EQ(outcomes(result), expected);
  EXPECT_EQ(result.skipped_on_both_sides, 1);
  EXPECT_EQ(result.exit_status(), 4);
  EXPECT_EQ(result.entries.front().outcome, kBroken);
  EXPECT_EQ(result.entries.back().outcome, kPass);
}

TEST(Gate, ExitStatusIsTheWorst) {
  const auto status = [](std::initializer_list<std::pair<Status, double>> rows) {
    Situation s;
    int i = 0;
    for (const auto& [after, ratio] : rows) s.both(std::to_string(i++), Status::kOk, after, ratio);
    return judge_gate(s.baseline, s.current, {}).exit_status();
  };
  EXPECT_EQ(status({{Status::kOk, 1.0}}), 0);
  EXPECT_EQ(status({{Status::kOk, 1.0}, {Status::kSkipped, 1.0}}), 0);
  EXPECT_EQ(status({{Status::kOk, 1.05}}), 3);
  EXPECT_EQ(status({{Status::kOk, 1.05}, {Status::kOk, 1.2}}), 1);
  EXPECT_EQ(status({{Status::kOk, 1.05}, {Status::kOk, 1.2}, {Status::kWrongResult, 1.0}}), 4);
  EXPECT_EQ(status({}), 3);  // it has shown nothing
}

TEST(Gate, ThatComparedNothingIsUnresolved) {
  const auto baseline = make_rounds(8, {}), current = make_rounds(8, {.fingerprint = "feed"});
  const auto result = judge_gate(baseline, current, {});
  EXPECT_EQ(result.count(GateOutcome::kNew), 1);
  EXPECT_EQ(result.count(GateOutcome::kDropped), 1);
  EXPECT_EQ(result.exit_status(), 3);
  EXPECT_THAT(gate_table(result, "a", "b", {}), HasSubstr("no row is on both sides"));
}

TEST(Gate, ARowThatWasNeverTriedAndIsWrongIsNewAndNoSuccess) {
  Situation s;
  s.both("fine", Status::kOk, Status::kOk);
  s.both("now tried", Status::kSkipped, Status::kWrongResult);
  const auto result = judge_gate(s.baseline, s.current, {});
  EXPECT_EQ(outcomes(result)["now tried"], GateOutcome::kNew);
  EXPECT_EQ(gate_tests(result)[0].outcome, TestOutcome::kSkipped);
}

TEST(Gate, AProviderThatIsToBeRefusedBreaksNothing) {
  Situation s;
  s.both("shown to fail", Status::kOk, Status::kWrongResult);
  for (auto& row : s.current) row.provenance.expected_status = "wrong_result";
  s.both("fine", Status::kOk, Status::kOk);
  const auto result = judge_gate(s.baseline, s.current, {});
  EXPECT_EQ(result.exit_status(), 0);
}

TEST(Gate, OneFailedAttemptAmongManyBreaksTheRow) {
  Situation s;
  s.both("flaky", Status::kOk, Status::kOk);
  s.current[5].status = Status::kCrashed;
  s.current[5].failure = Failure{"steady", "signal", "SIGSEGV", 11, {}, ""};
  const auto result = judge_gate(s.baseline, s.current, {});
  EXPECT_EQ(result.entries[0].outcome, GateOutcome::kBroken);
  EXPECT_THAT(result.entries[0].reason, HasSubstr("SIGSEGV"));
}

TEST(Gate, TheFloorOfTheMachineRaisesTheTolerance) {
  Situation s;
  s.both("slower", Status::kOk, Status::kOk, 1.10);
  GateOptions options;
  options.floor = [](const std::string& machine) -> std::optional<double> {
    EXPECT_EQ(machine, "0123456789abcdef");
    return 0.15;
  };
  const auto calibrated = judge_gate(s.baseline, s.current, options);
  EXPECT_EQ(calibrated.exit_status(), 0);
  EXPECT_DOUBLE_EQ(calibrated.entries[0].tolerance, 0.15);
  EXPECT_THAT(gate_table(calibrated, "a", "b", {}), Not(HasSubstr("uncalibrated")));
  options.floor = [](const std::string&) { return std::optional<double>(0.01); };
  EXPECT_DOUBLE_EQ(judge_gate(s.baseline, s.current, options).entries[0].tolerance, 0.05);
  EXPECT_EQ(judge_gate(s.baseline, s.current, options).exit_status(), 1);
  const auto plain = judge_gate(s.baseline, s.current, {});
  EXPECT_THAT(gate_table(plain, "a", "b", {}), HasSubstr("uncalibrated"));
  EXPECT_EQ(gate_json(plain, "a", "b")["uncalibrated"][0], "0123456789abcdef");
}

// Machines with floors of their own are still one family.
TEST(Gate, AllMachinesAreOneFamily) {
  Situation s;
  s.both("slower", Status::kOk, Status::kOk, 1.10);
  for (int i = 0; i < 4; ++i) {
    RowSpec other{.provider = "p" + std::to_string(i), .fingerprint = "ffffffffffffffff"};
    append(s.baseline, make_rounds(12, other));
    append(s.current, make_rounds(12, now(other)));
  }
  GateOptions options;
  options.floor = [](const std::string& machine) {
    return std::optional<double>(machine.starts_with("f") ? 0.2 : 0.0);
  };
  const auto result = judge_gate(s.baseline, s.current, options);
  EXPECT_EQ(result.entries[0].outcome, GateOutcome::kRegressed);
  EXPECT_GE(result.entries[0].numbers.p_adjusted, result.entries[0].numbers.p);
  EXPECT_EQ(result.count(GateOutcome::kPass), 4);
}

TEST(Gate, PairsWithinOneRun) {
  // A machine that drifts by 30 % over the run: hopeless unpaired, plain when paired.
  std::vector<Row> baseline, current;
  for (int round = 0; round < 12; ++round) {
    const double drift = 1 + 0.3 * std::sin(round);
    baseline.push_back(make_row({.time = drift * jitter(round), .round = round}));
    current.push_back(make_row({.time = 1.10 * drift, .round = round}));
  }
  const auto result = judge_gate(baseline, current, {});
  EXPECT_EQ(result.entries[0].pairing, Pairing::kPaired);
  EXPECT_EQ(result.entries[0].outcome, GateOutcome::kRegressed);
}

TEST(Gate, TooFewRoundsAreUnresolvedAndSayWhatIsNeeded) {
  Situation s;
  s.both("few", Status::kOk, Status::kOk, 1.5, 2);
  const auto result = judge_gate(s.baseline, s.current, {});
  EXPECT_EQ(result.entries[0].outcome, GateOutcome::kUnresolved);
  EXPECT_THAT(result.entries[0].reason, HasSubstr("no interval"));
}

TEST(Gate, MoreIsBetterMayNotFall) {
  Situation s;
  s.both("p", Status::kOk, Status::kOk, 1.10);
  const auto result = judge_gate(s.baseline, s.current, {.metric = "throughput"});
  EXPECT_EQ(result.entries[0].outcome, GateOutcome::kRegressed);
  EXPECT_GT(result.entries[0].numbers.ratio, 1);
}

TEST(Gate, MinP95Rule) {
  Situation s;
  s.both("fine", Status::kOk, Status::kOk, 1.05, 1);
  s.both("slower", Status::kOk, Status::kOk, 1.2, 1);
  s.both("broken", Status::kOk, Status::kCrashed);
  const auto result = judge_gate(s.baseline, s.current, {.rule = GateRule::kMinP95});
  EXPECT_EQ(outcomes(result)["fine"], GateOutcome::kPass);
  EXPECT_EQ(outcomes(result)["slower"], GateOutcome::kRegressed);
  EXPECT_EQ(outcomes(result)["broken"], GateOutcome::kBroken);
  for (auto& row : s.current) row.metrics.erase("steady_time_min");
  EXPECT_EQ(outcomes(judge_gate(s.baseline, s.current, {.rule = GateRule::kMinP95}))["fine"],
            GateOutcome::kUnresolved);
}

TEST(Gate, WhatIsDeterministicNeedsNoRounds) {
  Situation s;
  s.both("same", Status::kOk, Status::kOk, 1, 1);
  s.both("slower", Status::kOk, Status::kOk, 1.06, 1);
  for (auto* rows : {&s.baseline, &s.current}) {
    for (auto& row : *rows) row.provenance.origin = "simulated";
  }
  const auto result = judge_gate(s.baseline, s.current, {});
  EXPECT_EQ(outcomes(result)["same"], GateOutcome::kPass);
  EXPECT_EQ(outcomes(result)["slower"], GateOutcome::kRegressed);
}

TEST(Gate, RefusesOptionsOutOfRange) {
  EXPECT_THROW(judge_gate({}, {}, {.delta = -0.1}), UserError);
  EXPECT_THROW(judge_gate({}, {}, {.delta = NAN}), UserError);
  EXPECT_THROW(judge_gate({}, {}, {.alpha = 0}), UserError);
  EXPECT_THROW(judge_gate({}, {}, {.alpha = 1}), UserError);
  EXPECT_THROW(judge_gate({}, {}, {.metric = "speed"}), UserError);
}

TEST(Gate, EveryRowIsATestAndSaysWhy) {
  Situation s;
  s.both("slower", Status::kOk, Status::kOk, 1.10);
  s.both("wrong", Status::kOk, Status::kWrongResult);
  s.both("crashed", Status::kOk, Status::kCrashed);
  s.both("open", Status::kOk, Status::kOk, 1.05);
  s.both("fine", Status::kOk, Status::kOk);
  const auto tests = gate_tests(judge_gate(s.baseline, s.current, {}));
  ASSERT_EQ(tests.size(), 5u);
  std::multiset<TestOutcome> counted;
  for (const auto& test : tests) {
    counted.insert(test.outcome);
    EXPECT_FALSE(test.message.empty());
  }
  EXPECT_EQ(counted.count(TestOutcome::kFailed), 2u);
  EXPECT_EQ(counted.count(TestOutcome::kError), 1u);
  EXPECT_EQ(counted.count(TestOutcome::kSkipped), 1u);
  EXPECT_EQ(counted.count(TestOutcome::kPassed), 1u);
}

TEST(Gate, TextOfRowsCannotDisturb) {
  for (const auto& name : hostile_names()) {
    Situation s;
    s.both(name, Status::kOk, Status::kWrongResult);
    for (auto& row : s.current) row.failure->message = name;
    for (auto& row : s.current) row.failure->code = name;
    const auto result = judge_gate(s.baseline, s.current, {});
    for (const int width : {0, 60, 100, 300}) {
      const auto table = gate_table(result, name, name, {.width = width});
      EXPECT_THAT(table, Not(HasSubstr("\x1b")));
      EXPECT_THAT(table, Not(HasSubstr("\xE2\x80\xAE")));
    }
    EXPECT_NO_THROW(parse_json(canonical_json(gate_json(result, name, name)), "test"));
    EXPECT_THAT(junit_xml(name, gate_tests(result)), Not(HasSubstr("<script>")));
  }
}

}  // namespace
}  // namespace assay::lab
