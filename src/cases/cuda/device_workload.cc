// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/cuda/device_workload.h"

namespace assay::cases::cuda {

using kernels::cuda::Clock;

void DeviceWorkload::prepare_for(const lab::MeasureSettings& settings) {
  in_terms_of_a_row([&] { clock_ = std::make_unique<Clock>(settings.flush_l2); });
}
void DeviceWorkload::load(int slot, int set) {
  in_terms_of_a_row([&] { fill(slot, set); });
}
void DeviceWorkload::begin_batch() {
  in_terms_of_a_row([&] { clock_->begin(); });
}
void DeviceWorkload::call(int slot) {
  in_terms_of_a_row([&] {
    clock_->before_call();
    enqueue(slot, clock_->stream());
    clock_->after_call();
  });
}
lab::DeviceTimes DeviceWorkload::end_batch() {
  return in_terms_of_a_row([&] {
    const auto times = clock_->end();
    return lab::DeviceTimes{times.calls_s, times.sweeps_s};
  });
}
void DeviceWorkload::poison_outputs() {
  in_terms_of_a_row([&] { kernels::cuda::fill_bytes(output_, 0xFF, output_bytes_); });
}
void DeviceWorkload::write_outputs(const std::string& path) {
  in_terms_of_a_row([&] { write(path); });
}
std::map<std::string, double> DeviceWorkload::metrics() const {
  return {{"peak_device_memory", static_cast<double>(memory_.bytes())}};
}
std::map<std::string, std::string> DeviceWorkload::versions() const {
  return in_terms_of_a_row([&] {
    auto versions = versions_;
    const auto facts = kernels::cuda::device_facts();
    versions["cuda_runtime"] = kernels::cuda::version_text(facts.runtime);
    versions["cuda_driver"] = kernels::cuda::version_text(facts.driver);
    return versions;
  });
}

}  // namespace assay::cases::cuda
