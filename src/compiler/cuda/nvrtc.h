// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUDA's compiler for text, which needs no device.

#include <string>

#include "kernels/cuda/libraries.h"

namespace assay::compiler::cuda {

class Nvrtc {
 public:
  Nvrtc();  // throws EnvironmentError where it is not installed
  // Machine code for "sm_90". Several threads may ask at once. Throws InternalError with the
  // compiler's words: what is compiled is made by us.
  std::string compile(const std::string& source, const std::string& architecture) const;
  // "nvrtc 13.0, flags": what code depends on beside its source and architecture.
  const std::string& toolchain() const { return toolchain_; }

 private:
  kernels::SharedLibrary library_;
  std::string toolchain_;
};

}  // namespace assay::compiler::cuda
