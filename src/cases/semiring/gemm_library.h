// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "tensor/view.h"

namespace assay::cases::semiring {

// A BLAS that others wrote, loaded into this process when the object is made. One of them per
// process: they share the names of their symbols.
class GemmLibrary {
 public:
  // With that many threads. Both throw ProviderFailure (env_missing, library_missing).
  static GemmLibrary openblas(int threads);
  static GemmLibrary blis(int threads);

  // c = a·b for contiguous matrices in f32 or f64.
  void gemm(const TensorView& a, const TensorView& b, const MutableTensorView& c) const;

  // Release, the kernels it chose, and how many threads it uses.
  const std::map<std::string, std::string>& versions() const { return versions_; }

 private:
  template <typename T>
  using Gemm = void(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
  Gemm<float>* sgemm_ = nullptr;
  Gemm<double>* dgemm_ = nullptr;
  std::map<std::string, std::string> versions_;
};

}  // namespace assay::cases::semiring
