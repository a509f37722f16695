// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the driver says of the NVIDIA GPUs of this machine, through its management library
// (libnvidia-ml.so.1), which is opened when first asked for. ASSAY_NVML names another one. Nothing
// here touches a GPU: no context is made, and no setting is changed.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct Gpu {
  std::string uuid;  // "GPU-…": stays the same whatever the order of the devices
  std::string name;
  std::uint64_t memory_bytes = 0;
};

// A moment of one GPU. What the driver does not tell is absent.
struct GpuState {
  std::optional<std::int64_t> sm_clock_mhz, memory_clock_mhz, temperature_c;
  std::optional<double> power_w;
  std::optional<double> energy_j;  // used since the driver was loaded
  std::optional<std::uint64_t> memory_used_bytes;
  std::vector<std::string> throttled;  // why clocks are lower than they could be: kThermal, …
  std::vector<int> processes;          // that compute on it, as the driver numbers them

  inline static constexpr const char* kThermal = "thermal";
  inline static constexpr const char* kPowerBrake = "power_brake";
  inline static constexpr const char* kHardware = "hardware_slowdown";
  inline static constexpr const char* kPowerCap = "power_cap";
};

class Nvml {
 public:
  // Nothing where there is no such library, or it finds no driver.
  static std::shared_ptr<const Nvml> open();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::vector<Gpu>& gpus() const { return gpus_; }
  const std::string& driver() const { return driver_; }
  // Of the GPU of that position in gpus(). Takes a few milliseconds.
  GpuState state(std::size_t gpu) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
  std::vector<Gpu> gpus_;
  std::vector<void*> handles_;
  std::string driver_;
};

// Of those that the driver has, the ones that CUDA_VISIBLE_DEVICES leaves, in its order: positions
// in gpus().
std::vector<std::size_t> visible_gpus(const std::vector<Gpu>& gpus);

}  // namespace assay
