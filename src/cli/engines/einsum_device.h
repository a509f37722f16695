// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// `--device`. `assay` and `assay-einsum-cuda` have one `einsum`, but for this: the first knows no
// device (einsum_no_device.cc) and becomes the second, so that a run on the CPU never loads CUDA.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/arguments/arguments.h"
#include "einsum/calibrate/calibration.h"
#include "einsum/decompose/cp.h"
#include "einsum/decompose/tucker.h"
#include "einsum/mp2/mp2.h"

namespace assay::cli {

enum class EinsumPlace { kProcessor, kDevice, kFaster };
// By --device, --backend and the environment. Throws UserError.
EinsumPlace place_of(const EinsumArguments& arguments);

// This machine's GPU. The functions throw UserError where its memory does not hold a contraction,
// EnvironmentError where there is none or it fails.
class EinsumDevice {
 public:
  static bool is_here();  // whether this program can use one

  // Nothing where there is no GPU or no CUDA in this build: then the reason.
  static std::unique_ptr<EinsumDevice> if_any(const std::string& calibration, std::string& why_not);

  // With the calibration in the file, or the one of this machine, or the defaults.
  explicit EinsumDevice(const std::string& calibration);
  ~EinsumDevice();

  std::shared_ptr<const einsum::Plan> plan(const std::string& expression,
                                           std::span<const einsum::OperandSpec> operands,
                                           const einsum::PlanOptions& options);
  // Operands are copied there, the result back.
  einsum::RunReport run(const einsum::Plan& plan, const std::vector<TensorView>& operands,
                        Tensor& out, bool analyze);

 private:
  struct Own;
  std::unique_ptr<Own> own_;
};

einsum::Calibration calibrate_device(const std::function<void(const std::string&)>& progress);
einsum::Mp2Energy mp2_on_device(const TensorView& b, std::span<const double> occupied,
                                std::span<const double> virtuals,
                                const einsum::Mp2Options& options);
// The tensor is copied there first.
einsum::CpResult cp_on_device(const TensorView& x, const einsum::CpOptions& options);
einsum::TuckerResult tucker_on_device(const TensorView& x, const einsum::TuckerOptions& options);

}  // namespace assay::cli
