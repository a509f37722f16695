// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/measure/attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "lab/record/case.h"

namespace assay::lab {
namespace {

using testing::ElementsAre;

// A workload whose calls advance a clock of our own, and that remembers what it was asked.
struct Script {
  std::int64_t now = 0;
  std::int64_t call_ns = 1'000'000;
  std::int64_t cold_ns = 50'000'000;
  int calls = 0;
  double memory = 0, child_memory = 0;
  bool has_stages = false;
  std::vector<int> slots;
  std::vector<std::pair<int, int>> loads;
  std::vector<std::string> phases;
  std::vector<std::string> events;
};

class Scripted : public Workload {
 public:
  explicit Scripted(Script& script) : s_(script) {}
  void load(int slot, int set) override {
    s_.loads.emplace_back(slot, set);
    s_.events.push_back("load");
  }
  void call(int slot) override {
    s_.slots.push_back(slot);
    s_.now += s_.calls++ == 0 ? s_.cold_ns : s_.call_ns;
    s_.memory += 1;
    s_.events.push_back("call");
  }
  void poison_outputs() override { s_.events.push_back("poison"); }
  void write_outputs(const std::string&) override { s_.events.push_back("write"); }
  std::vector<std::pair<std::string, double>> stages() const override {
    if (!s_.has_stages) return {};
    return {{"scan", 1.0 * s_.calls}, {"output", 0.5}};
  }
  double child_memory() const override { return s_.child_memory; }

 private:
  Script& s_;
};

Instruments instruments_of(Script& s) {
  Instruments i;
  i.now_ns = [&s] { return s.now; };
  i.reset_peak_memory = [&s] { s.memory = 0; };
  i.peak_memory = [&s] { return s.memory; };
  i.on_phase = [&s](std::string_view name) { s.phases.emplace_back(name); };
  return i;
}

WorkerReport measure_scripted(Script& s, const MeasureSettings& settings,
                              bool deterministic = false) {
  return measure_attempt([&] { return std::make_unique<Scripted>(s); }, settings, deterministic,
                         "out", instruments_of(s));
}

TEST(Attempt, BatchesFillTheSteadyTime) {
  Script s;
  const auto report = measure_scripted(s, {.batches = 10, .steady_s = 0.5});
  EXPECT_EQ(report.status, Status::kOk);
  EXPECT_EQ(report.metrics.at("cold_time"), 0.05);
  ASSERT_EQ(report.steady_s.size(), 10u);
  EXPECT_DOUBLE_EQ(report.steady_s[3], 0.001);
  EXPECT_GE(report.batch_calls, 50);
  EXPECT_LE(report.batch_calls, 60);
  EXPECT_THAT(s.phases,
              ElementsAre("prepare", "cold", "warm_up", "calibrate", "steady", "output", "report"));
}

TEST(Attempt, ASlowCallIsABatchOfItsOwn) {
  Script s;
  s.call_ns = 3'000'000'000;
  const auto report = measure_scripted(s, {.batches = 5, .steady_s = 0.5});
  EXPECT_EQ(report.batch_calls, 1);
  EXPECT_EQ(report.steady_s.size(), 5u);
  // cold, two warm-up, five batches, one judged.
  EXPECT_EQ(s.calls, 9);
}

TEST(Attempt, ACallBelowTheClockStepStillGetsALongEnoughBatch) {
  Script s;
  s.call_ns = 2;
  auto instruments = instruments_of(s);
  instruments.now_ns = [&s] { return s.now / 31 * 31; };
  instruments.clock_step_ns = 31;
  const auto report = measure_attempt([&] { return std::make_unique<Scripted>(s); },
                                      {.batches = 5, .steady_s = 0, .batch_min_s = 1e-5}, false,
                                      "out", instruments);
  EXPECT_GE(report.batch_calls * 2, 1000 * 31);
}

// Work on a device: a call only asks for it, and the end of a batch waits for what is left.
class ScriptedDevice : public Scripted {
 public:
  explicit ScriptedDevice(Script& script) : Scripted(script), s_(script) {}
  void prepare_for(const MeasureSettings& settings) override { sweeps_ = settings.flush_l2; }
  void begin_batch() override { s_.events.push_back("begin"); }
  void call(int slot) override {
    Scripted::call(slot);
    ++waiting_;
  }
  DeviceTimes end_batch() override {
    s_.events.push_back("end");
    const double calls = waiting_, sweeps = sweeps_ ? waiting_ : 0;
    waiting_ = 0;
    s_.now += static_cast<std::int64_t>(1e6 * calls + 4e6 * sweeps);
    return {1.5e-3 * calls, 4e-3 * sweeps};
  }

 private:
  Script& s_;
  bool sweeps_ = false;
  int waiting_ = 0;
};

TEST(Attempt, WorkOnADeviceIsWaitedForAndHasItsOwnClock) {
  for (const bool flush : {false, true}) {
    Script s;  // a call asks for 1 ms, and another passes before its work is done
    const auto report = measure_attempt([&] { return std::make_unique<ScriptedDevice>(s); },
                                        {.batches = 5, .steady_s = 0.05, .flush_l2 = flush}, false,
                                        "out", instruments_of(s));
    EXPECT_EQ(report.status, Status::kOk) << report.message;
    ASSERT_EQ(report.steady_s.size(), 5u);
    EXPECT_NEAR(report.steady_s[2], 2e-3, 1e-9) << "sweeps are no part of a call";
    ASSERT_EQ(report.samples.at("device_time").size(), 5u);
    EXPECT_NEAR(report.samples.at("device_time")[2], 1.5e-3, 1e-9);
    // What is reported is less than the phase lasts where it has sweeps in it.
    EXPECT_EQ(std::ranges::count(s.phases, "steady"), flush ? 0 : 1);
    // The judged call's work is done before its output is written.
    const auto written = std::ranges::find(s.events, "write");
    ASSERT_NE(written, s.events.end());
    EXPECT_EQ(*(written - 1), "end");
  }
}

// Whole runs by a clock of their own, which sees a tenth of what goes by.
class ScriptedRuns : public Scripted {
 public:
  ScriptedRuns(Script& script, std::optional<int> warm_up)
      : Scripted(script), script_(script), warm_up_(warm_up) {}
  bool is_whole_run() const override { return true; }
  std::optional<int> warm_up_calls() const override { return warm_up_; }
  std::optional<double> own_seconds() const override { return 1e-4 * script_.calls; }
  std::map<std::string, double> call_values() const override { return {{"n", script_.calls}}; }

 private:
  Script& script_;
  const std::optional<int> warm_up_;
};

WorkerReport measure_runs(Script& s, const MeasureSettings& settings,
                          std::optional<int> warm_up = 0) {
  return measure_attempt([&] { return std::make_unique<ScriptedRuns>(s, warm_up); }, settings,
                         false, "out", instruments_of(s));
}

TEST(Attempt, EveryWholeRunCountsAndTheLastIsJudged) {
  Script s;
  s.cold_ns = s.call_ns;
  const auto report = measure_runs(s, {.batches = 200, .steady_s = 0.0045});
  EXPECT_EQ(report.status, Status::kOk) << report.message;
  EXPECT_EQ(s.calls, 4);  // of 1 ms
  EXPECT_EQ(report.batch_calls, 1);
  EXPECT_THAT(report.steady_s, ElementsAre(1e-4, 2e-4, 1e-4 * 3, 4e-4));
  EXPECT_THAT(report.samples.at("n"), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(report.metrics.at("cold_time"), 1e-4);
  EXPECT_THAT(s.phases, ElementsAre("prepare", "runs", "output", "report"));
  EXPECT_THAT(s.events, ElementsAre("poison", "call", "poison", "call", "poison", "call", "poison",
                                    "call", "write"));
}

TEST(Attempt, WholeRunsAreBoundedAndWarmedUpAsTheProviderSays) {
  Script few;
  EXPECT_EQ(measure_runs(few, {.batches = 5, .steady_s = 1e9}).steady_s.size(), 5u);
  Script slow;
  EXPECT_EQ(measure_runs(slow, {.batches = 200, .steady_s = 0.01}).steady_s.size(), 1u);
  EXPECT_EQ(slow.calls, 1);
  Script said;
  EXPECT_EQ(measure_runs(said, {.batches = 5, .steady_s = 0}, 3).steady_s.size(), 1u);
  EXPECT_EQ(said.calls, 4);
  Script asked;
  measure_runs(asked, {.warm_up_calls = 2, .batches = 5, .steady_s = 0}, std::nullopt);
  EXPECT_EQ(asked.calls, 3);
}

TEST(Attempt, SlotsRotateAndTheJudgedInputsAreNewOnesInTimedBuffers) {
  Script s;
  measure_scripted(s, {.batches = 5, .steady_s = 0.1});
  for (std::size_t i = 1; i < s.slots.size(); ++i) EXPECT_NE(s.slots[i], s.slots[i - 1]);
  ASSERT_EQ(s.loads.size(), 3u);
  EXPECT_EQ(s.loads[2].second, kJudgedSet);
  EXPECT_EQ(s.loads[2].first, s.slots.back());
  const std::vector<std::string> last(s.events.end() - 4, s.events.end());
  EXPECT_THAT(last, ElementsAre("load", "poison", "call", "write"));
}

TEST(Attempt, PeakMemoryIsPerPhase) {
  Script s;
  s.memory = 7;
  const auto report = measure_scripted(s, {.batches = 5, .steady_s = 0.05});
  EXPECT_EQ(report.metrics.at("peak_rss_start"), 7);
  EXPECT_EQ(report.metrics.at("peak_rss_cold"), 1);
  EXPECT_EQ(report.metrics.at("peak_rss_steady"), s.calls - 2);
}

TEST(Attempt, ChildProcessesCountAsMemory) {
  Script s;
  s.child_memory = 1000;
  const auto report = measure_scripted(s, {.batches = 5, .steady_s = 0.05});
  EXPECT_EQ(report.metrics.at("peak_rss_cold"), 1001);
  EXPECT_EQ(report.metrics.at("peak_rss_steady"), 1000 + s.calls - 2);
}

// The first call's stages stand alone; of the later ones, those of the last call of each batch.
TEST(Attempt, StagesAreKeptForTheFirstCallAndForEachBatch) {
  Script s;
  s.has_stages = true;
  s.call_ns = 1'000'000'000;
  const auto report = measure_scripted(s, {.warm_up_calls = 2, .batches = 5, .steady_s = 0.5});
  ASSERT_EQ(report.status, Status::kOk) << report.message;
  EXPECT_EQ(report.metrics.at("cold_stage_scan"), 1);
  EXPECT_EQ(report.metrics.at("cold_stage_output"), 0.5);
  EXPECT_THAT(report.samples.at("stage_scan"), ElementsAre(4, 5, 6, 7, 8));
  EXPECT_EQ(report.samples.at("stage_output").size(), 5u);
  EXPECT_EQ(report.metrics.count("stage_scan"), 0u) << "medians are the runner's business";
}

TEST(Attempt, ADeterministicProviderIsCalledOnceAndJudgedOnce) {
  Script s;
  const auto report = measure_scripted(s, {}, true);
  EXPECT_EQ(s.calls, 2);
  EXPECT_TRUE(report.steady_s.empty());
}

TEST(Attempt, FailuresSayWhereAndWhat) {
  Script s;
  const auto failing = [&](auto thrower) {
    return measure_attempt(
        [&]() -> std::unique_ptr<Workload> {
          thrower();
          return nullptr;
        },
        {}, false, "out", instruments_of(s));
  };
  auto report = failing([] { throw std::bad_alloc(); });
  EXPECT_EQ(report.status, Status::kOutOfMemory);
  EXPECT_EQ(report.phase, "prepare");
  report =
      failing([] { throw ProviderFailure(Status::kEnvMissing, "library_missing", "no libx.so"); });
  EXPECT_EQ(report.status, Status::kEnvMissing);
  EXPECT_EQ(report.code, "library_missing");
  report = failing([] { throw std::runtime_error("broken"); });
  EXPECT_EQ(report.status, Status::kFailed);
  EXPECT_EQ(report.message, "broken");

  class DiesInSteady : public Scripted {
   public:
    using Scripted::Scripted;
    void call(int slot) override {
      Scripted::call(slot);
      if (++count_ > 6) throw std::runtime_error("late");
    }
    int count_ = 0;
  };
  s.call_ns = 1'000'000'000;
  report = measure_attempt([&] { return std::make_unique<DiesInSteady>(s); }, {}, false, "out",
                           instruments_of(s));
  EXPECT_EQ(report.phase, "steady");
}

TEST(Attempt, TheReportSurvivesItsFile) {
  Script s;
  const auto report = measure_scripted(s, {.batches = 5, .steady_s = 0.05});
  const auto back = report_from_json(report_to_json(report), "report");
  EXPECT_EQ(canonical_json(report_to_json(back)), canonical_json(report_to_json(report)));
}

// A workload with a clock of its own.
class SelfTimed : public Scripted {
 public:
  explicit SelfTimed(Script& script) : Scripted(script) {}
  bool times_itself() const override { return true; }
  OwnTimes own_times(const MeasureSettings& settings) override {
    return {std::vector<double>(static_cast<std::size_t>(settings.batches), 2e-6),
            7,
            {{"cpu_time", {1e-6}}}};
  }
  std::map<std::string, double> metrics() const override { return {{"lanes", 3}}; }
};

TEST(Attempt, WhoTimesItselfIsAskedOnceAndNeverCalled) {
  Script s;
  s.child_memory = 5;
  MeasureSettings settings;
  settings.batches = 6;
  const auto report =
      measure_attempt([&]() -> std::unique_ptr<Workload> { return std::make_unique<SelfTimed>(s); },
                      settings, false, "out", instruments_of(s));
  EXPECT_EQ(report.status, Status::kOk) << report.message;
  EXPECT_EQ(report.steady_s, std::vector<double>(6, 2e-6));
  EXPECT_EQ(report.batch_calls, 7);
  EXPECT_THAT(report.samples.at("cpu_time"), ElementsAre(1e-6));
  EXPECT_EQ(report.metrics.at("peak_rss_steady"), 5);
  EXPECT_EQ(report.metrics.at("lanes"), 3);
  EXPECT_FALSE(report.metrics.contains("cold_time"));
  EXPECT_THAT(s.phases, ElementsAre("prepare", "own_clock", "output", "report"));
  EXPECT_THAT(s.events, ElementsAre("write"));
}

}  // namespace
}  // namespace assay::lab
