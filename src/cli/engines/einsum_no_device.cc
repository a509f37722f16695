// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "cli/engines/einsum_device.h"

namespace assay::cli {
namespace {

[[noreturn]] void elsewhere() { throw InternalError("another program has the device"); }

}  // namespace

struct EinsumDevice::Own {};

bool EinsumDevice::is_here() { return false; }
std::unique_ptr<EinsumDevice> EinsumDevice::if_any(const std::string&, std::string& why_not) {
  why_not = "this build has no CUDA, no GPU was looked for";
  return nullptr;
}
EinsumDevice::EinsumDevice(const std::string&) { elsewhere(); }
EinsumDevice::~EinsumDevice() = default;
std::shared_ptr<const einsum::Plan> EinsumDevice::plan(const std::string&,
                                                       std::span<const einsum::OperandSpec>,
                                                       const einsum::PlanOptions&) {
  elsewhere();
}
einsum::RunReport EinsumDevice::run(const einsum::Plan&, const std::vector<TensorView>&, Tensor&,
                                    bool) {
  elsewhere();
}
einsum::Calibration calibrate_device(const std::function<void(const std::string&)>&) {
  elsewhere();
}
einsum::Mp2Energy mp2_on_device(const TensorView&, std::span<const double>, std::span<const double>,
                                const einsum::Mp2Options&) {
  elsewhere();
}
einsum::CpResult cp_on_device(const TensorView&, const einsum::CpOptions&) { elsewhere(); }
einsum::TuckerResult tucker_on_device(const TensorView&, const einsum::TuckerOptions&) {
  elsewhere();
}

}  // namespace assay::cli
