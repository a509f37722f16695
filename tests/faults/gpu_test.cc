// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU that is missing, busy, hot or lost leaves in the rows. The GPU is a file that a
// management library of the tests' own reads; the worker on it is fault_worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <set>

#include "base/file.h"
#include "fault_case.h"
#include "lab/record/journal.h"
#include "lab/run/cores.h"
#include "lab/run/runner.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;

class GpuFaults : public testing::Test {
 protected:
  GpuFaults() {
    setenv("ASSAY_LOCK_DIR", dir_.path().c_str(), 1);
    setenv("ASSAY_NVML", FAKE_NVML, 1);
    setenv("FAKE_GPU", gpu_.c_str(), 1);
    std::vector<Provider> providers;
    for (const char* id :
         {"plain", "twin", "segv", "device-memory", "device-lost", "tells-device"}) {
      providers.push_back(
          {.id = id, .description = "a provider for tests", .platforms = {"cpu", "cuda"}});
    }
    cases_.add(std::make_unique<ToyCase>(std::move(providers)));
    context_.cases = &cases_;
    context_.programs.worker = context_.programs.worker_cuda = FAULT_WORKER;
    context_.own_program = FAULT_WORKER;
    context_.built_from = {"0123456789abcdef", "main", false};
    context_.progress = &progress_;
    context_.stop = &stop_;
    request_.cases = {"toy_double"};
    request_.platforms = {"cuda"};
    request_.rounds = 1;
    request_.mode = "quick";
    request_.settings = {
        .warm_up_calls = 1, .batches = 5, .steady_s = 0, .batch_min_s = 0, .batch_min_ticks = 1};
    request_.max_steal = request_.max_foreign = 1;
    request_.time_limit_s = 60;
  }
  ~GpuFaults() override {
    for (const char* name : {"ASSAY_NVML", "FAKE_GPU"}) unsetenv(name);
  }

  void gpu_says(const std::string& text) { write_file_atomically(gpu_, text); }
  std::vector<Row> run(std::vector<std::string> providers) {
    request_.providers = std::move(providers);
    const auto out = dir_.path() + "/" + std::to_string(next_++) + ".jsonl";
    return read_journal(start_run(context_, request_, out).journal).rows;
  }
  static std::string code(const Row& row) { return row.failure ? row.failure->code : ""; }

  TemporaryDirectory dir_;
  std::string gpu_ = dir_.path() + "/gpu";
  CaseRegistry cases_;
  SilentProgress progress_;
  std::atomic<bool> stop_ = false;
  RunContext context_;
  RunRequest request_;
  int next_ = 0;
};

TEST_F(GpuFaults, WithoutADeviceOneRowOfEachProviderSaysSo) {
  request_.mode = "standard";  // two points
  const auto rows = run({"plain", "twin"});
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& row : rows) {
    EXPECT_EQ(row.status, Status::kSkipped);
    EXPECT_EQ(code(row), "no_device");
    EXPECT_EQ(row.platform, "cuda");
  }
}

TEST_F(GpuFaults, AWorkerThatWasNotBuiltIsNamed) {
  gpu_says("");
  context_.programs.worker_cuda = "/nonexistent/assay-worker-cuda";
  const auto rows = run({"plain"});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].status, Status::kEnvMissing);
  EXPECT_EQ(code(rows[0]), "worker_missing");
}

TEST_F(GpuFaults, ADeviceThatComputesWronglyIsNotMeasuredOn) {
  gpu_says("smoke_fails 1");
  const auto rows = run({"plain"});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(code(rows[0]), "device_unhealthy");
  EXPECT_THAT(rows[0].failure->message, HasSubstr("Fake GPU"));
}

TEST_F(GpuFaults, AnAttemptHasItsDeviceAndWhatTheDriverSaidOfIt) {
  gpu_says("count 2 clock 1980 temperature 50 energy_step 7000 processes 0 reasons 4");
  request_.settings.steady_s = 1.5;
  const auto rows = run({"plain", "tells-device"});
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& row : rows) {
    ASSERT_EQ(row.status, Status::kOk) << row.failure_message();
    ASSERT_TRUE(row.provenance.gpu);
    const auto& gpu = *row.provenance.gpu;
    EXPECT_EQ(row.provenance.device, "GPU-fake-0");
    EXPECT_EQ(gpu.clock_mhz_max, 1980);
    EXPECT_EQ(gpu.temperature_c_max, 50);
    EXPECT_GE(gpu.looks, 2);
    EXPECT_EQ(gpu.strangers, 0);
    EXPECT_THAT(*gpu.throttled, testing::ElementsAre(GpuState::kPowerCap));
    ASSERT_TRUE(gpu.power_w);
    EXPECT_DOUBLE_EQ(row.metrics.at("energy"), *gpu.power_w * row.metrics.at("steady_time"));
    if (row.provider == "tells-device") {
      EXPECT_EQ(row.provenance.versions->at("device"), "GPU-fake-0");
    }
  }
}

TEST_F(GpuFaults, HeatAndStrangersExcludeAndAreKeptOnlyWithAMark) {
  request_.settings.steady_s = 0.3;
  request_.max_tries = 2;
  for (const auto& [says, why] :
       {std::pair("reasons 32", "thermal"), {"processes 2", "other process"}}) {
    gpu_says(says);
    const auto rows = run({"plain"});
    ASSERT_EQ(rows.size(), 2u) << says;
    EXPECT_EQ(rows[0].status, Status::kExcluded);
    EXPECT_EQ(code(rows[0]), "contaminated");
    EXPECT_THAT(rows[0].failure->message, HasSubstr(why));
    EXPECT_THAT(rows[1].provenance.contaminated.value_or(""), HasSubstr(why));
  }
}

TEST_F(GpuFaults, ADeviceThatIsFullFailsOneProviderAlone) {
  gpu_says("");
  const auto rows = run({"plain", "device-memory"});
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& row : rows) {
    EXPECT_EQ(row.status, row.provider == "plain" ? Status::kOk : Status::kOutOfMemory);
  }
}

TEST_F(GpuFaults, ACrashDoesNotEndTheRunWhereTheDeviceStillWorks) {
  gpu_says("");
  request_.rounds = 2;
  const auto rows = run({"plain", "segv"});
  ASSERT_EQ(rows.size(), 4u);
  for (const auto& row : rows) {
    EXPECT_EQ(row.status, row.provider == "plain" ? Status::kOk : Status::kCrashed);
  }
}

TEST_F(GpuFaults, AfterALostDeviceWhatNeedsItIsSkippedAndTheRestGoesOn) {
  gpu_says("");  // device-lost breaks the smoke attempt for good
  request_.platforms = {"cpu", "cuda"};
  request_.rounds = 3;
  const auto rows = run({"device-lost", "plain"});
  int lost = 0, skipped = 0, on_cpu = 0;
  for (const auto& row : rows) {
    lost += row.platform == "cuda" && row.status == Status::kFailed && code(row) == "device_lost";
    skipped +=
        row.platform == "cuda" && row.status == Status::kSkipped && code(row) == "device_lost";
    on_cpu += row.platform == "cpu" && row.provider == "plain" && row.status == Status::kOk;
  }
  EXPECT_EQ(lost, 1);
  EXPECT_GE(skipped, 3);
  EXPECT_EQ(on_cpu, 3);
}

TEST_F(GpuFaults, EachCoreGroupHasAGpuOfItsOwn) {
  if (core_groups(1, 0).front().size() < 2) GTEST_SKIP() << "needs two cores";
  gpu_says("count 2");
  request_.mode = "standard";  // two points
  request_.rounds = 2;
  request_.cpu_slots = request_.gpus = 2;
  const auto rows = run({"tells-device", "plain"});
  ASSERT_EQ(rows.size(), 8u);
  std::map<std::string, std::set<std::string>> devices;  // of the groups' cores, and of the points
  for (const auto& row : rows) {
    ASSERT_EQ(row.status, Status::kOk) << row.failure_message();
    devices[canonical_json(Json(*row.provenance.cpus))].insert(*row.provenance.device);
    devices[canonical_json(row.point)].insert(*row.provenance.device);
    if (row.provider == "tells-device") {
      EXPECT_EQ(row.provenance.versions->at("device"), *row.provenance.device);
    }
  }
  for (const auto& [what, of] : devices) EXPECT_EQ(of.size(), 1u) << what;
}

TEST_F(GpuFaults, MoreGpusThanThereAreAreRefused) {
  gpu_says("count 1");
  request_.gpus = 2;
  EXPECT_THAT([&] { run({"plain"}); },
              testing::ThrowsMessage<UserError>(HasSubstr("--gpus 2 with --cpu-slots 1")));
  request_.cpu_slots = 2;  // on one core, too
  EXPECT_THAT([&] { run({"plain"}); },
              testing::ThrowsMessage<UserError>(HasSubstr("which is 1, got 2")));
  gpu_says("count 3");  // more than there are, of GPUs and of cores: GPUs are what was asked for
  request_.gpus = request_.cpu_slots = 100'000;
  EXPECT_THAT([&] { run({"plain"}); },
              testing::ThrowsMessage<UserError>(HasSubstr("which is 3, got 100000")));
}

TEST_F(GpuFaults, ADeviceIsLockedByItsName) {
  std::atomic<bool> stop = false;
  const auto held = CoreLock::acquire({}, stop, {}, "GPU-fake-0");
  ASSERT_TRUE(held);
  EXPECT_FALSE(FileLock::try_acquire(dir_.path() + "/gpu-GPU-fake-0.lock"));
  EXPECT_TRUE(CoreLock::acquire({}, stop, {}, "GPU-fake-1"));
  stop = true;  // whoever waits for it can be stopped
  EXPECT_FALSE(CoreLock::acquire({}, stop, {}, "GPU-fake-0"));
}

}  // namespace
}  // namespace assay::lab
