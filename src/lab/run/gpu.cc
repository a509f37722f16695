// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "lab/record/protocol.h"

namespace assay::lab {
namespace {

constexpr std::int64_t kBetweenLooksNs = 40'000'000;
// The energy counter moves ten times a second on an H200, and is seen up to two looks late: over a
// shorter stretch than this the power would be wrong by more than a tenth.
constexpr std::int64_t kLeastStretchNs = 800'000'000;

Skip no_device() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return {"no_device", visible == nullptr ? "this machine has no NVIDIA GPU"
                                          : "CUDA_VISIBLE_DEVICES leaves no GPU of this machine"};
}

}  // namespace

std::optional<Skip> why_no_gpu() {
  const auto nvml = Nvml::open();
  if (nvml && !visible_gpus(nvml->gpus()).empty()) return std::nullopt;
  return no_device();
}

std::vector<std::shared_ptr<RunGpu>> find_gpus(const Programs& programs, int count,
                                               std::optional<Skip>& trouble) {
  const auto nvml = Nvml::open();
  const auto there = nvml ? visible_gpus(nvml->gpus()).size() : 0;
  if (there == 0) trouble = no_device();
  const auto wanted = static_cast<std::size_t>(count);
  if (there > 0 && there < wanted) {
    fail("--gpus is at most the number of GPUs that can be seen, which is {}, got {}", there,
         count);
  }
  std::vector<std::shared_ptr<RunGpu>> gpus;
  for (std::size_t i = 0; i < std::min(there, wanted); ++i) {
    auto gpu = std::make_shared<RunGpu>(programs, i);
    if (gpu->trouble()) {
      trouble = gpu->trouble();
    } else {
      gpus.push_back(std::move(gpu));
    }
  }
  if (!gpus.empty()) trouble.reset();
  return gpus;
}

RunGpu::RunGpu(const Programs& programs, std::size_t place) : nvml_(Nvml::open()) {
  const auto visible = nvml_ ? visible_gpus(nvml_->gpus()) : std::vector<std::size_t>();
  if (place >= visible.size()) {
    trouble_ = no_device();
    return;
  }
  position_ = visible[place];
  if (find_program(programs.worker_cuda)) worker_ = programs.worker_cuda;
  if (const auto why = smoke(); !why.empty()) {
    trouble_ =
        Skip{"device_unhealthy", fmt::format("a small product on {} failed: {}", gpu().name, why)};
  }
}

std::string RunGpu::smoke() const {
  if (worker_.empty()) return {};
  ProcessSpec spec;
  spec.argv = {worker_, kSmokeOption};
  spec.environment = environment();
  spec.time_limit_s = 60;
  const auto result = run_process(spec);
  if (result.exit_code == 0) return {};
  if (result.timed_out) return fmt::format("no answer in {} s", spec.time_limit_s);
  if (result.signal) return fmt::format("ended by signal {}", *result.signal);
  const auto said = result.stderr_text.substr(0, result.stderr_text.find('\n'));
  return said.empty() ? fmt::format("exit code {}", result.exit_code.value_or(-1)) : said;
}

bool RunGpu::still_works() {
  const auto why = smoke();
  if (why.empty()) return true;
  const std::lock_guard guard(mutex_);
  trouble_ = Skip{"device_lost", fmt::format("{} was lost during the run: {}", gpu().name, why)};
  return false;
}

std::vector<std::pair<std::string, std::string>> RunGpu::environment() const {
  return {{"CUDA_VISIBLE_DEVICES", gpu().uuid}, {"XLA_PYTHON_CLIENT_PREALLOCATE", "false"}};
}

GpuWatch::GpuWatch(const RunGpu& gpu) : gpu_(gpu), before_(gpu.state()) {
  // Whoever was there before us may still be going.
  for (int i = 0; i < 5 && !before_.processes.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    before_ = gpu.state();
  }
  record_.uuid = gpu.gpu().uuid;
  record_.name = gpu.gpu().name;
  record_.driver = gpu.driver();
  record_.looks = 0;
  record_.strangers = static_cast<std::int64_t>(before_.processes.size());
  record_.throttled.emplace();
}

void GpuWatch::look(const std::string& phase) {
  const auto now = monotonic_ns();
  if (now - last_ns_ < kBetweenLooksNs) return;
  last_ns_ = now;
  take(gpu_.state(), phase == "steady");
}

void GpuWatch::take(const GpuState& state, bool is_steady) {
  const auto raise = [](auto& most, const auto& value) {
    if (value && (!most || *most < *value)) most = *value;
  };
  // One of the processes is the attempt; they may be numbered as another system sees them.
  const auto others = static_cast<std::int64_t>(state.processes.size()) - 1;
  raise(record_.strangers, std::optional(others));
  if (state.memory_used_bytes && before_.memory_used_bytes &&
      *state.memory_used_bytes > *before_.memory_used_bytes) {
    raise(record_.memory_bytes_max,
          std::optional(*state.memory_used_bytes - *before_.memory_used_bytes));
  }
  if (!is_steady) return;
  ++*record_.looks;
  for (const auto& why : state.throttled) {
    if (std::ranges::find(*record_.throttled, why) == record_.throttled->end()) {
      record_.throttled->push_back(why);
    }
  }
  raise(record_.temperature_c_max, state.temperature_c);
  raise(record_.clock_mhz_max, state.sm_clock_mhz);
  record_.memory_clock_mhz = state.memory_clock_mhz;
  if (state.sm_clock_mhz) {
    record_.clock_mhz_min =
        std::min(record_.clock_mhz_min.value_or(*state.sm_clock_mhz), *state.sm_clock_mhz);
  }
  if (state.energy_j) {
    // Counted between two moments at which the counter moves: what it says in between is old.
    const Energy now = {monotonic_ns(), *state.energy_j};
    if (seen_ && *seen_ != now.joule) {
      if (!first_) first_ = now;
      latest_ = now;
    }
    seen_ = now.joule;
  }
}

GpuRecord GpuWatch::finish() {
  auto after = gpu_.state();
  for (int i = 0; i < 5 && !after.processes.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    after = gpu_.state();
  }
  record_.strangers =
      std::max(*record_.strangers, static_cast<std::int64_t>(after.processes.size()));
  if (first_ && latest_->at_ns - first_->at_ns >= kLeastStretchNs &&
      latest_->joule > first_->joule) {
    record_.power_w = (latest_->joule - first_->joule) /
                      (1e-9 * static_cast<double>(latest_->at_ns - first_->at_ns));
  }
  return std::move(record_);
}

std::optional<std::string> gpu_contamination(const GpuRecord& record) {
  if (record.strangers.value_or(0) > 0) {
    return fmt::format("stranger: {} other process{} computed on the GPU", *record.strangers,
                       *record.strangers == 1 ? "" : "es");
  }
  for (const auto& why : record.throttled.value_or(std::vector<std::string>())) {
    if (why != GpuState::kPowerCap) {
      return fmt::format("throttling: the GPU lowered its clocks ({})", why);
    }
  }
  return std::nullopt;
}

}  // namespace assay::lab
