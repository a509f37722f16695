// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cuda/device.h"

namespace assay::cli {

// A GPU was asked for and there is none.
class NoDevice : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

// The device's trouble in the words of this program.
[[noreturn]] inline void throw_in_words(const kernels::cuda::DeviceError& e) {
  if (e.trouble() == kernels::cuda::Trouble::kNoDevice) {
    throw NoDevice(fmt::format("no NVIDIA GPU here (no_device): {}", e.what()));
  }
  throw EnvironmentError(fmt::format("--device cuda: {}", e.what()));
}

}  // namespace assay::cli
