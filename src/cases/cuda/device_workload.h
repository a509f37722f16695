// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernels/cuda/device.h"
#include "lab/measure/workload.h"

namespace assay::cases::cuda {

// Runs `work`; the device's troubles become failures in the terms of a row.
template <typename Work>
auto in_terms_of_a_row(const Work& work) {
  using kernels::cuda::Trouble;
  try {
    return work();
  } catch (const kernels::cuda::DeviceError& e) {
    switch (e.trouble()) {
      case Trouble::kMemory:
        throw lab::ProviderFailure(lab::Status::kOutOfMemory, "device_memory", e.what());
      case Trouble::kNoDevice:
        throw lab::ProviderFailure(lab::Status::kSkipped, "no_device", e.what());
      case Trouble::kLost:
        throw lab::ProviderFailure(lab::Status::kFailed, "device_lost", e.what());
      case Trouble::kOther:
        throw lab::ProviderFailure(lab::Status::kFailed, "device_error", e.what());
    }
    throw;
  }
}

// What every provider on the device has: inputs stay there, calls are enqueued on one stream, and a
// batch is waited for at its end.
class DeviceWorkload : public lab::Workload {
 public:
  void prepare_for(const lab::MeasureSettings& settings) override;
  void load(int slot, int set) final;
  void call(int slot) final;
  void begin_batch() final;
  lab::DeviceTimes end_batch() final;
  void poison_outputs() final;
  void write_outputs(const std::string& path) final;
  std::map<std::string, double> metrics() const override;
  std::map<std::string, std::string> versions() const override;

 protected:
  // Fills the slot's inputs on the device.
  virtual void fill(int slot, int set) = 0;
  virtual void enqueue(int slot, kernels::cuda::Stream stream) = 0;
  // Copies the output out and writes it.
  virtual void write(const std::string& path) = 0;

  kernels::cuda::Memory memory_;
  void* output_ = nullptr;  // of output_bytes_, allocated by the provider
  std::size_t output_bytes_ = 0;
  std::map<std::string, std::string> versions_;

 private:
  std::unique_ptr<kernels::cuda::Clock> clock_;
};

}  // namespace assay::cases::cuda
