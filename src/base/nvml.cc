// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace assay {
namespace {

// Of nvml.h, which need not be installed: the numbers are part of the library's binary interface.
constexpr int kSmClock = 1, kMemoryClock = 2, kGpuTemperature = 0;
constexpr unsigned long long kReasonPowerCap = 0x4, kReasonHardware = 0x8,
                             kReasonThermal = 0x20 | 0x40, kReasonPowerBrake = 0x80;

// More than any machine has: a library that says otherwise is broken, and must not keep us.
constexpr unsigned kMostGpus = 256;

struct MemoryInfo {
  unsigned long long total, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

}  // namespace

struct Nvml::Library {
  explicit Library(void* opened) : handle(opened) {}

  void* handle;
  // Null where this release of the library does not have it.
  template <typename... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(handle, name));
    return function != nullptr && function(arguments...) == 0;
  }
  template <typename T>
  std::optional<T> value(const char* name, void* device, auto... arguments) const {
    T result{};
    if (!call(name, device, arguments..., &result)) return std::nullopt;
    return result;
  }
  std::vector<int> processes(void* device) const {
    std::vector<int> pids;
    for (const char* name :
         {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3"}) {
      std::array<ProcessInfo, 64> list{};
      unsigned count = list.size();
      if (!call(name, device, &count, list.data())) continue;
      count = std::min(count, static_cast<unsigned>(list.size()));
      for (unsigned i = 0; i < count; ++i) pids.push_back(static_cast<int>(list[i].pid));
    }
    std::ranges::sort(pids);
    const auto repeated = std::ranges::unique(pids);
    pids.erase(repeated.begin(), repeated.end());
    return pids;
  }
};

std::shared_ptr<const Nvml> Nvml::open() {
  const char* own = std::getenv("ASSAY_NVML");
  void* handle =
      ::dlopen(own != nullptr && *own != '\0' ? own : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  auto library = std::make_unique<Library>(handle);
  if (!library->call("nvmlInit_v2")) return nullptr;
  return std::shared_ptr<const Nvml>(new Nvml(std::move(library)));
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {
  std::array<char, 96> text{};
  const auto size = static_cast<unsigned>(text.size());
  if (library_->call("nvmlSystemGetDriverVersion", text.data(), size)) driver_ = text.data();
  unsigned count = 0;
  library_->call("nvmlDeviceGetCount_v2", &count);
  for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
    void* device = nullptr;
    if (!library_->call("nvmlDeviceGetHandleByIndex_v2", i, &device)) continue;
    Gpu gpu;
    if (library_->call("nvmlDeviceGetUUID", device, text.data(), size)) gpu.uuid = text.data();
    if (library_->call("nvmlDeviceGetName", device, text.data(), size)) gpu.name = text.data();
    if (const auto memory = library_->value<MemoryInfo>("nvmlDeviceGetMemoryInfo", device)) {
      gpu.memory_bytes = memory->total;
    }
    gpus_.push_back(std::move(gpu));
    handles_.push_back(device);
  }
}

// The library stays loaded: others of this process may have opened it too.
Nvml::~Nvml() { library_->call("nvmlShutdown"); }

GpuState Nvml::state(std::size_t gpu) const {
  void* const device = handles_.at(gpu);
  const auto& library = *library_;
  GpuState state;
  state.sm_clock_mhz = library.value<unsigned>("nvmlDeviceGetClockInfo", device, kSmClock);
  state.memory_clock_mhz = library.value<unsigned>("nvmlDeviceGetClockInfo", device, kMemoryClock);
  state.temperature_c =
      library.value<unsigned>("nvmlDeviceGetTemperature", device, kGpuTemperature);
  if (const auto mw = library.value<unsigned>("nvmlDeviceGetPowerUsage", device)) {
    state.power_w = 1e-3 * *mw;
  }
  if (const auto mj =
          library.value<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", device)) {
    state.energy_j = 1e-3 * static_cast<double>(*mj);
  }
  if (const auto memory = library.value<MemoryInfo>("nvmlDeviceGetMemoryInfo", device)) {
    state.memory_used_bytes = memory->used;
  }
  const auto reasons =
      library.value<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons", device)
          .value_or(0);
  for (const auto& [bits, name] : {std::pair(kReasonThermal, GpuState::kThermal),
                                   {kReasonPowerBrake, GpuState::kPowerBrake},
                                   {kReasonHardware, GpuState::kHardware},
                                   {kReasonPowerCap, GpuState::kPowerCap}}) {
    if ((reasons & bits) != 0) state.throttled.emplace_back(name);
  }
  state.processes = library.processes(device);
  return state;
}

std::vector<std::size_t> visible_gpus(const std::vector<Gpu>& gpus) {
  std::vector<std::size_t> visible;
  const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES");
  if (chosen == nullptr) {
    for (std::size_t i = 0; i < gpus.size(); ++i) visible.push_back(i);
    return visible;
  }
  std::istringstream words(chosen);
  for (std::string word; std::getline(words, word, ',');) {
    const auto found = std::ranges::find_if(gpus, [&](const Gpu& gpu) {
      const auto position = &gpu - gpus.data();
      return word == std::to_string(position) ||
             (word.starts_with("GPU-") && gpu.uuid.starts_with(word));
    });
    if (found == gpus.end()) break;  // as CUDA does: what follows a wrong word is not seen
    visible.push_back(static_cast<std::size_t>(found - gpus.begin()));
  }
  return visible;
}

}  // namespace assay
