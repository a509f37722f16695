// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/openblas.h"

#include <dlfcn.h>

#include "base/error.h"
#include "lab/measure/workload.h"

namespace assay::cases::semiring {
namespace {

constexpr const char* kLibrary = "libopenblas.so.0";
// Values of the CBLAS interface.
constexpr int kRowMajor = 101, kNoTranspose = 111;

template <typename F>
F symbol(void* library, const char* name) {
  void* address = ::dlsym(library, name);
  if (address == nullptr) {
    throw lab::ProviderFailure(lab::Status::kEnvMissing, "library_missing",
                               fmt::format("{} has no function '{}'", kLibrary, name));
  }
  return reinterpret_cast<F>(address);
}

}  // namespace

OpenBlas::OpenBlas(int threads) {
  // Never unloaded: its threads would outlive its code.
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw lab::ProviderFailure(lab::Status::kEnvMissing, "library_missing",
                               fmt::format("cannot load '{}': {}", kLibrary, ::dlerror()));
  }
  sgemm_ = symbol<Sgemm>(library, "cblas_sgemm");
  dgemm_ = symbol<Dgemm>(library, "cblas_dgemm");
  symbol<void (*)(int)>(library, "openblas_set_num_threads")(threads);
  threads_ = symbol<int (*)()>(library, "openblas_get_num_threads")();
  config_ =
      fmt::format("{}; kernels for {}", symbol<const char* (*)()>(library, "openblas_get_config")(),
                  symbol<const char* (*)()>(library, "openblas_get_corename")());
}

void OpenBlas::gemm(const TensorView& a, const TensorView& b, const MutableTensorView& c) const {
  const int m = static_cast<int>(a.extent(0)), k = static_cast<int>(a.extent(1)),
            n = static_cast<int>(b.extent(1));
  const int lda = std::max(1, k), ldb = std::max(1, n);
  if (a.dtype() == DType::kF32) {
    sgemm_(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, a.data<float>(), lda, b.data<float>(),
           ldb, 0, c.data<float>(), ldb);
  } else {
    dgemm_(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, a.data<double>(), lda,
           b.data<double>(), ldb, 0, c.data<double>(), ldb);
  }
}

std::map<std::string, std::string> OpenBlas::versions() const {
  return {{"openblas", config_}, {"openblas_threads", std::to_string(threads_)}};
}

}  // namespace assay::cases::semiring
