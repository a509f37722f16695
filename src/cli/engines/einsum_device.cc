// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/einsum_device.h"

#include "base/clock.h"
#include "base/error.h"
#include "cli/engines/no_device.h"
#include "einsum/cuda/calibrate.h"
#include "einsum/cuda/decompose.h"
#include "einsum/cuda/device_engine.h"
#include "einsum/cuda/mp2.h"

namespace assay::cli {
namespace {

// The device's troubles in the words of this program.
template <typename Work>
auto einsum_on_device(const Work& work) {
  try {
    return work();
  } catch (const kernels::cuda::DeviceError& e) {
    if (e.trouble() == kernels::cuda::Trouble::kMemory) {
      fail("--device cuda: {}: tensors and intermediates do not fit together", e.what());
    }
    throw_in_words(e);
  }
}

std::optional<einsum::TimeModel> model_in(const std::string& calibration) {
  if (calibration.empty()) return std::nullopt;
  const auto device = einsum::cuda::DeviceEngine().description();
  return einsum::load_device_calibration(calibration, device).model;
}

}  // namespace

struct EinsumDevice::Own {
  explicit Own(const std::string& calibration) : engine({.model = model_in(calibration)}) {}
  einsum::cuda::DeviceEngine engine;
};

bool EinsumDevice::is_here() { return true; }

std::unique_ptr<EinsumDevice> EinsumDevice::if_any(const std::string& calibration,
                                                   std::string& why_not) {
  try {
    return std::make_unique<EinsumDevice>(calibration);
  } catch (const NoDevice& e) {
    why_not = e.what();
    return nullptr;
  }
}

EinsumDevice::EinsumDevice(const std::string& calibration)
    : own_(einsum_on_device([&] { return std::make_unique<Own>(calibration); })) {}
EinsumDevice::~EinsumDevice() = default;

std::shared_ptr<const einsum::Plan> EinsumDevice::plan(
    const std::string& expression, std::span<const einsum::OperandSpec> operands,
    const einsum::PlanOptions& options) {
  // What the host has with gaps is sent without them.
  std::vector<einsum::OperandSpec> dense;
  for (const auto& o : operands) dense.push_back(einsum::OperandSpec::dense(o.dtype, o.shape));
  return einsum_on_device([&] { return own_->engine.plan(expression, dense, options); });
}

einsum::RunReport EinsumDevice::run(const einsum::Plan& plan,
                                    const std::vector<TensorView>& operands, Tensor& out,
                                    bool analyze) {
  return einsum_on_device([&] {
    auto& engine = own_->engine;
    const auto begin = monotonic_ns();
    std::vector<einsum::cuda::DeviceTensor> there;
    for (const auto& operand : operands) there.push_back(engine.to_device(operand));
    const auto sent = monotonic_ns();
    const einsum::cuda::DeviceTensor result(plan.result, plan.output_shape());
    auto report = engine.run_into(plan, there, result, {.analyze = analyze});
    engine.wait();
    const auto done = monotonic_ns();
    out = engine.to_host(result);
    report.transfer_seconds = 1e-9 * static_cast<double>((sent - begin) + (monotonic_ns() - done));
    return report;
  });
}

einsum::Calibration calibrate_device(const std::function<void(const std::string&)>& progress) {
  return einsum_on_device([&] { return einsum::cuda::calibrate(progress); });
}

einsum::Mp2Energy mp2_on_device(const TensorView& b, std::span<const double> occupied,
                                std::span<const double> virtuals,
                                const einsum::Mp2Options& options) {
  return einsum_on_device(
      [&] { return einsum::cuda::device_mp2_energy(b, occupied, virtuals, options); });
}

einsum::CpResult cp_on_device(const TensorView& x, const einsum::CpOptions& options) {
  return einsum_on_device([&] {
    einsum::cuda::DeviceEngine engine;
    return einsum::cuda::device_cp(engine, engine.to_device(x), options);
  });
}

einsum::TuckerResult tucker_on_device(const TensorView& x, const einsum::TuckerOptions& options) {
  return einsum_on_device([&] {
    einsum::cuda::DeviceEngine engine;
    return einsum::cuda::device_tucker(engine, engine.to_device(x), options);
  });
}

}  // namespace assay::cli
