// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/blas.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.h"

namespace assay::transport::blas {
namespace {

constexpr const char* kLibrary = "libopenblas.so.0";

// Fortran calls pass everything by address.
template <typename T>
using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const T*,
                      const T*, const int*, const T*, const int*, const T*, T*, const int*);
template <typename T>
using Gemv = void (*)(const char*, const int*, const int*, const T*, const T*, const int*, const T*,
                      const int*, const T*, T*, const int*);
using Getrf = void (*)(const int*, const int*, double*, const int*, int*, int*);
using Getrs = void (*)(const char*, const int*, const int*, const double*, const int*, const int*,
                       double*, const int*, int*);
using Potr = void (*)(const char*, const int*, double*, const int*, int*);

// The best kernels OpenBLAS 0.3.21 has for this processor: its Zen and Sapphire Rapids ones are
// those of Haswell and SkylakeX for the functions used here. Null: its own choice is right.
const char* fitting_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

// A variable of the environment, set for as long as the library loads. What the user has set stays,
// and so does what is empty here.
class WhileLoading {
 public:
  WhileLoading(const char* name, const char* value) : name_(name) {
    set_ = *value != '\0' && std::getenv(name) == nullptr;
    if (set_) ::setenv(name, value, 0);
  }
  ~WhileLoading() {
    if (set_) ::unsetenv(name_);
  }
  WhileLoading(const WhileLoading&) = delete;
  WhileLoading& operator=(const WhileLoading&) = delete;

 private:
  const char* name_;
  bool set_;
};

struct Library {
  Gemm<double> dgemm;
  Gemm<float> sgemm;
  Gemv<double> dgemv;
  Gemv<float> sgemv;
  Getrf dgetrf;
  Getrs dgetrs;
  Potr dpotrf, dpotri;
  std::string description;

  Library() {
    const char* kernels = fitting_kernels();
    const WhileLoading own_kernels("OPENBLAS_CORETYPE", kernels != nullptr ? kernels : "");
    // Or it starts a pool of threads that spin for a while beside the one that works.
    const WhileLoading one_thread("OPENBLAS_NUM_THREADS", "1");
    // Never unloaded: what it allocates would outlive its code.
    handle_ = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
      throw EnvironmentError(fmt::format("cannot load '{}': {}", kLibrary, ::dlerror()));
    }
    bind(dgemm, "dgemm_");
    bind(sgemm, "sgemm_");
    bind(dgemv, "dgemv_");
    bind(sgemv, "sgemv_");
    bind(dgetrf, "dgetrf_");
    bind(dgetrs, "dgetrs_");
    bind(dpotrf, "dpotrf_");
    bind(dpotri, "dpotri_");
    void (*set_threads)(int) = nullptr;
    const char* (*config)() = nullptr;
    const char* (*core)() = nullptr;
    bind(set_threads, "openblas_set_num_threads");
    bind(config, "openblas_get_config");
    bind(core, "openblas_get_corename");
    set_threads(1);
    description = fmt::format("{}; kernels for {}; 1 thread", config(), core());
  }

 private:
  template <typename F>
  void bind(F& function, const char* name) const {
    void* address = ::dlsym(handle_, name);
    if (address == nullptr) {
      throw EnvironmentError(fmt::format("{} has no function '{}'", kLibrary, name));
    }
    function = reinterpret_cast<F>(address);
  }
  void* handle_ = nullptr;
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

}  // namespace

void gemm(Op a, Op b, int m, int n, int k, double alpha, const double* A, int lda, const double* B,
          int ldb, double beta, double* C, int ldc) {
  const char ta = static_cast<char>(a), tb = static_cast<char>(b);
  library().dgemm(&ta, &tb, &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C, &ldc);
}

void gemm(Op a, Op b, int m, int n, int k, float alpha, const float* A, int lda, const float* B,
          int ldb, float beta, float* C, int ldc) {
  const char ta = static_cast<char>(a), tb = static_cast<char>(b);
  library().sgemm(&ta, &tb, &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C, &ldc);
}

void gemv(Op a, int m, int n, double alpha, const double* A, int lda, const double* x, double beta,
          double* y) {
  const char t = static_cast<char>(a);
  const int step = 1;
  library().dgemv(&t, &m, &n, &alpha, A, &lda, x, &step, &beta, y, &step);
}

void gemv(Op a, int m, int n, float alpha, const float* A, int lda, const float* x, float beta,
          float* y) {
  const char t = static_cast<char>(a);
  const int step = 1;
  library().sgemv(&t, &m, &n, &alpha, A, &lda, x, &step, &beta, y, &step);
}

bool factor_lu(int n, double* A, int lda, std::vector<int>& pivots) {
  pivots.resize(static_cast<std::size_t>(n));
  int info = 0;
  library().dgetrf(&n, &n, A, &lda, pivots.data(), &info);
  check(info >= 0, "dgetrf gets valid arguments");
  return info == 0;
}

void solve_lu(Op op, int n, int columns, const double* A, int lda, const std::vector<int>& pivots,
              double* B, int ldb) {
  const char t = static_cast<char>(op);
  int info = 0;
  library().dgetrs(&t, &n, &columns, A, &lda, pivots.data(), B, &ldb, &info);
  check(info == 0, "dgetrs gets valid arguments");
}

bool invert_spd(int n, double* A, int lda) {
  const char lower = 'L';
  int info = 0;
  library().dpotrf(&lower, &n, A, &lda, &info);
  if (info > 0) return false;
  library().dpotri(&lower, &n, A, &lda, &info);
  check(info >= 0, "dpotri gets valid arguments");
  if (info > 0) return false;
  for (int c = 0; c < n; ++c) {
    for (int r = c + 1; r < n; ++r) {
      A[c + static_cast<std::ptrdiff_t>(r) * lda] = A[r + static_cast<std::ptrdiff_t>(c) * lda];
    }
  }
  return true;
}

std::string description() { return library().description; }

}  // namespace assay::transport::blas
