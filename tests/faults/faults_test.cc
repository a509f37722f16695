// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// What a misbehaving worker leaves: exactly the row that the status section names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "fault_case.h"
#include "lab/record/journal.h"
#include "lab/run/execute.h"
#include "lab/run/run_place.h"
#include "lab/run/runner.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;

class Faults : public testing::Test {
 protected:
  Faults() {
    setenv("ASSAY_LOCK_DIR", dir_.path().c_str(), 1);
    cases_.add(fault_case());
    context_.cases = &cases_;
    context_.programs.worker = FAULT_WORKER;
    context_.own_program = FAULT_WORKER;
    context_.built_from = {"0123456789abcdef", "main", false};
    context_.progress = &progress_;
    context_.stop = &stop_;
    request_.cases = {"toy_double"};
    request_.mode = "quick";
    request_.rounds = 1;
    request_.settings = {
        .warm_up_calls = 1, .batches = 5, .steady_s = 0, .batch_min_s = 0, .batch_min_ticks = 1};
    request_.max_steal = 1;
    request_.max_foreign = 1;
    request_.time_limit_s = 60;
  }
  std::vector<Row> run(std::vector<std::string> providers) {
    request_.providers = std::move(providers);
    const auto result = start_run(context_, request_, journal());
    // What came back is what the journal has, and the journal is valid.
    const auto written = read_journal(result.journal);
    EXPECT_EQ(written.rows.size(), result.rows.size());
    return written.rows;
  }
  // The row of a misbehaving provider; the well-behaved one beside it must not suffer.
  Row row_of(const std::string& provider) {
    const auto rows = run({"plain", provider});
    EXPECT_EQ(rows.size(), 2u);
    for (const auto& row : rows) {
      if (row.provider == "plain") {
        EXPECT_EQ(row.status, Status::kOk) << row.failure_message();
      }
    }
    return rows[rows[0].provider == provider ? 0 : 1];
  }
  std::string journal() { return dir_.path() + "/" + std::to_string(next_++) + ".jsonl"; }
  static std::string code(const Row& row) { return row.failure ? row.failure->code : ""; }

  TemporaryDirectory dir_;
  CaseRegistry cases_;
  SilentProgress progress_;
  std::atomic<bool> stop_ = false;
  RunContext context_;
  RunRequest request_;
  int next_ = 0;
};

TEST_F(Faults, WrongAnswersAreWrongResultsAndKeepTheirTimes) {
  const std::pair<const char*, const char*> expected[] = {
      {"wrong", "value"},     {"nan", "nan"},     {"cached", "stale"},
      {"unwritten", "stale"}, {"shape", "shape"}, {"dtype", "shape"}};
  for (const auto& [provider, why] : expected) {
    const auto row = row_of(provider);
    EXPECT_EQ(row.status, Status::kWrongResult) << provider;
    EXPECT_EQ(code(row), why) << provider << ": " << row.failure_message();
    EXPECT_EQ(row.fidelity->status, "fail");
    EXPECT_GT(row.metric_or_nan("steady_time"), 0);
  }
}

TEST_F(Faults, SidesAreMeasuredInTheSameRoundsByTheirOwnWorkers) {
  const auto other = dir_.path() + "/other-worker";
  std::filesystem::copy_file(FAULT_WORKER, other);
  request_.rounds = 4;
  request_.sides = {{"baseline", other}, {"current", ""}};
  const auto rows = run({"plain@baseline", "plain@current"});
  ASSERT_EQ(rows.size(), 8u);
  for (const auto& row : rows) {
    EXPECT_EQ(row.status, Status::kOk) << row.failure_message();
    EXPECT_EQ(row.provenance.baseline, "plain@baseline");
    const auto& side = row.provenance.side;
    ASSERT_TRUE(side);
    EXPECT_EQ(side->label, row.provider.substr(6));
    EXPECT_EQ(!side->worker_sha256, side->label == "current");
    EXPECT_EQ(row.round, row.order / 2) << "interleaved";
  }
  // A side whose worker does not know what is asked fails by itself.
  write_file_atomically(other, "#!/bin/sh\nexit 7\n");
  std::filesystem::permissions(other, std::filesystem::perms::owner_all);
  for (const auto& row : run({"plain@baseline", "plain@current"})) {
    EXPECT_EQ(row.status, row.provider == "plain@current" ? Status::kOk : Status::kFailed);
  }
}

TEST_F(Faults, ABudgetEndsTheRunAndTheLastRowSaysSo) {
  request_.mode = "standard";  // two points
  request_.rounds = 1000;
  request_.budget_s = 1;
  const auto rows = run({"plain", "twin"});
  ASSERT_GT(rows.size(), 1u);
  const std::int64_t first = rows.front().provenance.start_ns.value();
  // Exceeded by at most one attempt: all but the last have ended by then.
  const std::int64_t end = rows[rows.size() - 2].provenance.end_ns.value();
  EXPECT_LT(end - first, 1'000'000'000);
  std::map<std::string, int> attempts, said;
  for (const auto& row : rows) {
    ++attempts[canonical_json(row.point)];
    const auto& stopping = row.provenance.stopping;
    if (!stopping) continue;
    EXPECT_EQ(stopping->decision, "budget");
    EXPECT_FALSE(stopping->target);
    ++said[canonical_json(row.point)];
  }
  EXPECT_EQ(attempts.size(), 2u) << "both points had their share";
  for (const auto& [point, count] : attempts) EXPECT_LT(count, 2000);
  EXPECT_EQ(said.size(), 2u);
}

TEST_F(Faults, MissingAndUnreadableReportsAreFailures) {
  const std::pair<const char*, const char*> expected[] = {
      {"nothing", "no_output"},     {"no-output", "no_output"},     {"garbage-output", "no_output"},
      {"bad-report", "bad_report"}, {"lying-report", "bad_report"}, {"thrower", "error"},
      {"exit3", "exit_code"}};
  for (const auto& [provider, why] : expected) {
    const auto row = row_of(provider);
    EXPECT_EQ(row.status, Status::kFailed) << provider;
    EXPECT_EQ(code(row), why) << provider << ": " << row.failure_message();
  }
  EXPECT_EQ(row_of("exit3").failure->exit_code, 3);
  EXPECT_EQ(row_of("exit3").failure->phase, "cold");
  EXPECT_EQ(row_of("thrower").failure->message, "the provider gave up");
}

TEST_F(Faults, ASignalIsACrash) {
  const auto row = row_of("segv");
  EXPECT_EQ(row.status, Status::kCrashed);
  EXPECT_EQ(row.failure->signal, SIGSEGV);
  EXPECT_EQ(row.failure->phase, "cold");
}

TEST_F(Faults, SleepingForeverIsATimeoutAndEndsThePoint) {
  request_.time_limit_s = 2;
  request_.rounds = 3;
  const auto rows = run({"sleeper"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].status, Status::kTimeout);
  EXPECT_EQ(rows[0].failure->phase, "cold");
  EXPECT_EQ(rows[1].status, Status::kSkipped);
  EXPECT_EQ(code(rows[1]), "after_timeout");
  EXPECT_EQ(rows[2].round, 2);
}

TEST_F(Faults, ChildrenThatOutliveAnAttemptAreKilledAndCounted) {
  const auto row = row_of("forker");
  EXPECT_EQ(row.status, Status::kOk) << row.failure_message();
  EXPECT_EQ(row.provenance.orphans_killed, 1);
}

TEST_F(Faults, MemoryBeyondTheLimitIsOutOfMemory) {
  request_.memory_limit = 256 << 20;
  for (const char* provider : {"hog", "hog-shared"}) {
    const auto row = row_of(provider);
    EXPECT_EQ(row.status, Status::kOutOfMemory) << provider << ": " << row.failure_message();
    EXPECT_EQ(row.failure->phase, "cold");
  }
}

TEST_F(Faults, LargerPointsAreSkippedAfterOutOfMemory) {
  request_.memory_limit = 256 << 20;
  request_.mode = "standard";
  const auto rows = run({"hog"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].status, Status::kOutOfMemory);
  EXPECT_EQ(code(rows[1]), "after_out_of_memory");
}

TEST_F(Faults, PrintingGarbageHarmsNobody) { EXPECT_EQ(row_of("noisy").status, Status::kOk); }

TEST_F(Faults, AMissingModuleIsAMissingEnvironment) {
  const auto row = row_of("no-module");
  EXPECT_EQ(row.status, Status::kEnvMissing);
  EXPECT_EQ(code(row), "module_missing");
  EXPECT_THAT(row.failure.value().message, HasSubstr("a_module_that_does_not_exist"));
}

TEST_F(Faults, AMissingInterpreterIsAMissingEnvironment) {
  setenv("ASSAY_PYTHON_NO_MODULE_CPU", "/nowhere/python3", 1);
  const auto row = row_of("no-module");
  unsetenv("ASSAY_PYTHON_NO_MODULE_CPU");
  EXPECT_EQ(row.status, Status::kEnvMissing);
  EXPECT_EQ(code(row), "interpreter_missing");
}

TEST_F(Faults, DeterministicProvidersLeaveARowForEachPointOfOneProcess) {
  request_.mode = "points";
  request_.points = Json::array({{{"n", 8}}, {{"n", 9}}, {{"n", 10}}});
  request_.rounds = 3;
  const auto rows = run({"simulated"});
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& row : rows) {
    EXPECT_EQ(row.status, Status::kOk) << row.failure_message();
    EXPECT_EQ(row.provenance.start_ns, rows[0].provenance.start_ns);
  }
}

TEST_F(Faults, APointThatBringsADeterministicProviderDownIsAlone) {
  request_.mode = "points";
  request_.points = Json::array({{{"n", 8}}, {{"n", 16}}, {{"n", 24}}});
  const auto rows = run({"simulated-crash"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].status, Status::kOk) << rows[0].failure_message();
  EXPECT_EQ(rows[1].status, Status::kFailed);
  EXPECT_EQ(rows[1].failure->exit_code, 9);
  EXPECT_EQ(rows[2].status, Status::kOk) << rows[2].failure_message();
}

TEST_F(Faults, InterruptionLeavesARowAndTheRestForLater) {
  stop_ = false;
  class StopAtSecond : public SilentProgress {
   public:
    explicit StopAtSecond(std::atomic<bool>& stop) : stop_(stop) {}
    void starting(const PointPlan&, const Contender&, int round) override {
      if (round == 1) stop_ = true;
    }

   private:
    std::atomic<bool>& stop_;
  } stopper(stop_);
  context_.progress = &stopper;
  request_.rounds = 3;
  request_.providers = {"plain"};
  const auto path = journal();
  const auto first = start_run(context_, request_, path);
  EXPECT_TRUE(first.interrupted);
  ASSERT_EQ(first.rows.size(), 2u);
  EXPECT_EQ(first.rows[1].status, Status::kInterrupted);
  stop_ = false;
  context_.progress = &progress_;
  const auto second = resume_run(context_, find_place(path, ""));
  ASSERT_EQ(second.rows.size(), 4u);
  EXPECT_EQ(second.rows[2].round, 1);
  EXPECT_EQ(second.rows[2].try_number, 1);
  EXPECT_EQ(second.rows[3].round, 2);
}

// Both runs ask for the same, so that their attempts have the same names.
TEST_F(Faults, WhatAnotherRunDidInTheSameJournalIsNotDone) {
  request_.rounds = 2;
  request_.providers = {"plain"};
  const auto path = journal(), other = journal(), both = journal();
  const auto run = start_run(context_, request_, path);
  start_run(context_, request_, other);
  const auto lines = read_journal(path).lines;
  ASSERT_EQ(lines.size(), 2u);
  write_file_atomically(both, lines[0] + "\n" + read_file(other));
  EXPECT_EQ(look_at_place(both, "").of_others, 2u);
  const auto went_on = resume_run(context_, find_place(both, ""));
  ASSERT_EQ(went_on.rows.size(), 2u);
  for (const auto& row : went_on.rows) EXPECT_EQ(row.run_id, run.run_id);
  EXPECT_EQ(went_on.rows[1].round, 1);
  EXPECT_EQ(read_journal(both).rows.size(), 4u);
}

TEST_F(Faults, RowsDoNotSayWhereThingsLie) {
  setenv("ASSAY_PYTHON", "/home/somebody/venv/bin/python3", 1);
  setenv("OMP_PLACES", "cores", 1);
  setenv("ASSAY_TWO", "/usr/lib/a.so:/opt/b.so plain", 1);
  const auto rows = run({"plain"});
  for (const char* name : {"ASSAY_PYTHON", "OMP_PLACES", "ASSAY_TWO"}) unsetenv(name);
  const auto environment = rows.at(0).provenance.environment.value();
  EXPECT_EQ(environment.at("ASSAY_PYTHON"), "python3");
  EXPECT_EQ(environment.at("OMP_PLACES"), "cores");
  EXPECT_EQ(environment.at("ASSAY_TWO"), "a.so:b.so plain");
  for (const auto& [name, value] : environment) EXPECT_FALSE(value.starts_with("/")) << name;
}

TEST_F(Faults, WhereEveryTryIsDisturbedTheLastIsKeptAndSaysSo) {
  request_.max_steal = -1;  // any share is too much
  request_.max_tries = 3;
  const auto rows = run({"plain"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].status, Status::kExcluded);
  EXPECT_EQ(rows[1].status, Status::kExcluded);
  EXPECT_EQ(rows[2].status, Status::kOk) << rows[2].failure_message();
  EXPECT_FALSE(!rows[2].fidelity);
  EXPECT_THAT(rows[2].provenance.contaminated.value_or(""), testing::HasSubstr("steal"));
}

// On a machine whose other programs take the cores for as long, nobody can be caught understating.
TEST_F(Faults, TimesThatOurClockDoesNotAllowAreWrong) {
  request_.settings.steady_s = 0.4;
  for (const char* provider : {"understated", "overstated"}) {
    bool caught = false;
    for (int i = 0; i < 5 && !caught; ++i) {
      const auto row = row_of(provider);
      caught = row.status == Status::kWrongResult;
      if (caught) {
        EXPECT_EQ(code(row), "impossible_rate");
        EXPECT_THAT(row.failure_message(), HasSubstr("the worker reports"));
      } else {
        const auto& noise = row.provenance.noise.value();
        EXPECT_GT(noise.steal_fraction.value_or(0) + noise.foreign_fraction.value_or(0), 0.1);
      }
    }
    if (!caught) GTEST_SKIP() << "every attempt was disturbed by others";
  }
}

TEST_F(Faults, FoldersOfKilledRunnersAreSweptByTheNextRun) {
  setenv("TMPDIR", dir_.path().c_str(), 1);
  const auto abandoned = dir_.path() + "/" + kAttemptFolder + "-abc123";
  std::filesystem::create_directories(abandoned + "/inside");
  write_file_atomically(abandoned + "/inside/output", "large");
  const TemporaryDirectory in_use(kAttemptFolder);
  run({"plain"});
  unsetenv("TMPDIR");
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_TRUE(std::filesystem::exists(in_use.path()));
}

TEST_F(Faults, WhatIsNoPythonIsAMissingEnvironment) {
  setenv("ASSAY_PYTHON", "/bin/true", 1);
  const auto row = row_of("no-module");
  unsetenv("ASSAY_PYTHON");
  EXPECT_EQ(row.status, Status::kEnvMissing);
  EXPECT_EQ(code(row), "interpreter_missing");
  EXPECT_THAT(row.failure_message(), HasSubstr("/bin/true"));
}

TEST_F(Faults, AnExistingJournalIsNotOverwritten) {
  const auto path = journal();
  request_.providers = {"plain"};
  start_run(context_, request_, path);
  const auto before = read_file(path);
  EXPECT_THROW(start_run(context_, request_, path), UserError);
  EXPECT_EQ(read_file(path), before);
}

TEST_F(Faults, RowsCarryWhatIsNeededToJudgeThem) {
  const auto row = row_of("twin");
  const Json provenance = to_json(row.provenance);
  for (const char* key :
       {"time_start", "label", "mode", "assay_version", "commit", "branch", "dirty",
        "binary_sha256", "compiler", "flags", "versions", "environment", "cpus", "order_seed",
        "isolation", "noise", "baseline", "primary_metric", "request"}) {
    EXPECT_TRUE(provenance.contains(key)) << key;
  }
  for (const char* name :
       {"steady_time", "steady_time_min", "steady_time_p10", "steady_time_p95", "steady_time_iqr",
        "steady_time_n", "cold_time", "flop_rate", "bandwidth", "peak_rss_start", "peak_rss_cold",
        "peak_rss_steady", "harness_overhead"}) {
    EXPECT_TRUE(row.metrics.contains(name)) << name;
  }
  EXPECT_EQ(row.samples["steady_s"].size(), 5u);
  EXPECT_EQ(row.metric_or_nan("steady_time_n"), 5);
}

}  // namespace
}  // namespace assay::lab
