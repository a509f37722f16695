// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/gemm_library.h"

#include <algorithm>

#include "base/error.h"
#include "base/shared_library.h"
#include "lab/measure/workload.h"

namespace assay::cases::semiring {
namespace {

// Values of the CBLAS interface.
constexpr int kRowMajor = 101, kNoTranspose = 111;

template <typename T>
void multiply(void (*gemm)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*,
                           int),
              const TensorView& a, const TensorView& b, const MutableTensorView& c) {
  const int m = static_cast<int>(a.extent(0)), k = static_cast<int>(a.extent(1)),
            n = static_cast<int>(b.extent(1));
  const int lda = std::max(1, k), ldb = std::max(1, n);
  gemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, a.data<T>(), lda, b.data<T>(), ldb, 0,
       c.data<T>(), ldb);
}

// What is missing becomes the row of an attempt that could not be made.
template <class Load>
GemmLibrary load(const Load& how) {
  try {
    return how();
  } catch (const EnvironmentError& e) {
    throw lab::ProviderFailure(lab::Status::kEnvMissing, "library_missing", e.what());
  }
}

}  // namespace

GemmLibrary GemmLibrary::openblas(int threads) {
  return load([threads] {
    const SharedLibrary& library = assay::openblas();
    GemmLibrary blas;
    blas.sgemm_ = library.function<Gemm<float>>("cblas_sgemm");
    blas.dgemm_ = library.function<Gemm<double>>("cblas_dgemm");
    set_openblas_threads(threads);
    const int used = library.function<int()>("openblas_get_num_threads")();
    blas.versions_ = {{"openblas", openblas_description()},
                      {"openblas_threads", std::to_string(used)}};
    return blas;
  });
}

GemmLibrary GemmLibrary::blis(int threads) {
  return load([threads] {
    const SharedLibrary& library = assay::blis();
    GemmLibrary blas;
    blas.sgemm_ = library.function<Gemm<float>>("cblas_sgemm");
    blas.dgemm_ = library.function<Gemm<double>>("cblas_dgemm");
    library.function<void(std::int64_t)>("bli_thread_set_num_threads")(threads);
    const auto used = library.function<std::int64_t()>("bli_thread_get_num_threads")();
    const char* kernels = library.function<const char*(int)>("bli_arch_string")(
        library.function<int()>("bli_arch_query_id")());
    const char* version = library.function<const char*()>("bli_info_get_version_str")();
    blas.versions_ = {{"blis", fmt::format("BLIS {}; kernels for {}", version, kernels)},
                      {"blis_threads", std::to_string(used)}};
    return blas;
  });
}

void GemmLibrary::gemm(const TensorView& a, const TensorView& b, const MutableTensorView& c) const {
  if (a.dtype() == DType::kF32) {
    multiply<float>(sgemm_, a, b, c);
  } else {
    multiply<double>(dgemm_, a, b, c);
  }
}

}  // namespace assay::cases::semiring
