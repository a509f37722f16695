// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The GPUs that a run's attempts on platform cuda share, one attempt on each at a time.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/nvml.h"
#include "lab/record/case.h"
#include "lab/record/row_parts.h"
#include "lab/run/environment.h"

namespace assay::lab {

// Why no attempt on platform cuda can be made on this machine; nothing where one can. Starts
// nothing.
std::optional<Skip> why_no_gpu();

class RunGpu {
 public:
  // The GPU of that place among those that CUDA_VISIBLE_DEVICES leaves. Where our worker for it was
  // built, a smoke attempt decides whether the GPU is healthy.
  explicit RunGpu(const Programs& programs, std::size_t place = 0);

  // Why nothing can be measured on it: no_device, device_unhealthy, device_lost.
  std::optional<Skip> trouble() const {
    const std::lock_guard guard(mutex_);
    return trouble_;
  }
  // Without trouble at the beginning:
  const Gpu& gpu() const { return nvml_->gpus()[position_]; }
  const std::string& driver() const { return nvml_->driver(); }
  GpuState state() const { return nvml_->state(position_); }
  // What an attempt's process is told: which device, by its UUID, and to take no more of its memory
  // than it needs.
  std::vector<std::pair<std::string, std::string>> environment() const;
  // Another smoke attempt; false: it failed, and trouble() says so from now on.
  bool still_works();

 private:
  std::string smoke() const;  // what is wrong; empty: nothing

  std::string worker_;
  std::shared_ptr<const Nvml> nvml_;
  std::size_t position_ = 0;
  mutable std::mutex mutex_;  // guards what follows
  std::optional<Skip> trouble_;
};

// The first `count` GPUs of this machine, less those that are not healthy. Where there is none:
// nothing, and `trouble` says why. Throws UserError where there are some, but not so many.
std::vector<std::shared_ptr<RunGpu>> find_gpus(const Programs& programs, int count,
                                               std::optional<Skip>& trouble);

// Looks at the GPU before, during and after an attempt. From the runner's side, so that it is the
// same for every provider; by the energy counter, of the steady phase alone.
class GpuWatch {
 public:
  explicit GpuWatch(const RunGpu& gpu);
  // `phase`: what the attempt is at. Asks the driver at most 25 times a second.
  void look(const std::string& phase);
  GpuRecord finish();

 private:
  void take(const GpuState& state, bool is_steady);

  const RunGpu& gpu_;
  GpuState before_;
  GpuRecord record_;
  std::int64_t last_ns_ = 0;
  struct Energy {
    std::int64_t at_ns = 0;
    double joule = 0;
  };
  std::optional<double> seen_;            // what the counter said last
  std::optional<Energy> first_, latest_;  // moments at which it was seen to move
};

// Why an attempt is contaminated: clocks that the hardware lowered for heat or power, or another
// process on the device. A power cap set in software is the device as it is, and is only recorded.
std::optional<std::string> gpu_contamination(const GpuRecord& record);

}  // namespace assay::lab
