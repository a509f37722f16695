// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "tensor/view.h"

namespace assay::cases::semiring {

// OpenBLAS, loaded into this process when the object is made and used by nobody else in it. Threads
// are fixed by the environment before loading, and once more here.
class OpenBlas {
 public:
  // Throws ProviderFailure (env_missing, library_missing).
  explicit OpenBlas(int threads);

  // c = a·b for contiguous matrices in f32 or f64.
  void gemm(const TensorView& a, const TensorView& b, const MutableTensorView& c) const;

  std::map<std::string, std::string> versions() const;

 private:
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*,
                         int, double, double*, int);
  Sgemm sgemm_ = nullptr;
  Dgemm dgemm_ = nullptr;
  std::string config_;
  int threads_ = 0;
};

}  // namespace assay::cases::semiring
