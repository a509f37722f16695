// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/gemm_library.h"

#include <algorithm>

#include "base/error.h"
#include "lab/measure/workload.h"

namespace assay::cases::semiring {
namespace {

template <typename T>
void multiply(const blas::Library& library, const TensorView& a, const TensorView& b,
              const MutableTensorView& c) {
  const int m = static_cast<int>(a.extent(0)), k = static_cast<int>(a.extent(1)),
            n = static_cast<int>(b.extent(1));
  const int lda = std::max(1, k), ldb = std::max(1, n);
  library.gemm<T>(blas::Order::kRows, blas::Op::kNone, blas::Op::kNone, m, n, k, T{1}, a.data<T>(),
                  lda, b.data<T>(), ldb, T{0}, c.data<T>(), ldb);
}

// What is missing becomes the row of an attempt that could not be made.
template <class Load>
const blas::Library& load(const Load& how) {
  try {
    return how();
  } catch (const EnvironmentError& e) {
    throw lab::ProviderFailure(lab::Status::kEnvMissing, "library_missing", e.what());
  }
}

}  // namespace

GemmLibrary::GemmLibrary(const std::string& name, const blas::Library& library, int threads)
    : library_(&library) {
  library.set_threads(threads);
  versions_ = {{name, library.description()},
               {name + "_threads", std::to_string(library.threads())}};
}

GemmLibrary GemmLibrary::openblas(int threads) {
  return {"openblas", load(blas::Library::openblas), threads};
}

GemmLibrary GemmLibrary::blis(int threads) { return {"blis", load(blas::Library::blis), threads}; }

void GemmLibrary::gemm(const TensorView& a, const TensorView& b, const MutableTensorView& c) const {
  if (a.dtype() == DType::kF32) {
    multiply<float>(*library_, a, b, c);
  } else {
    multiply<double>(*library_, a, b, c);
  }
}

}  // namespace assay::cases::semiring
