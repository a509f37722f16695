// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "kernels/blas/library.h"
#include "tensor/view.h"

namespace assay::cases::semiring {

// A BLAS that others wrote, with a number of threads, as a provider has it.
class GemmLibrary {
 public:
  // One of them per process (blas::Library). Both throw ProviderFailure (env_missing,
  // library_missing).
  static GemmLibrary openblas(int threads);
  static GemmLibrary blis(int threads);

  // c = a·b for contiguous matrices in f32 or f64.
  void gemm(const TensorView& a, const TensorView& b, const MutableTensorView& c) const;

  // Release, the kernels it chose, and how many threads it uses.
  const std::map<std::string, std::string>& versions() const { return versions_; }

 private:
  GemmLibrary(const std::string& name, const blas::Library& library, int threads);

  const blas::Library* library_;
  std::map<std::string, std::string> versions_;
};

}  // namespace assay::cases::semiring
