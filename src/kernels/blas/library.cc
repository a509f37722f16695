// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/blas/library.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "base/error.h"

namespace assay::blas {
namespace {

enum class VectorUnit { kOther, kAvx2, kAvx512 };

VectorUnit vector_unit() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    return VectorUnit::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorUnit::kAvx2;
#endif
  return VectorUnit::kOther;
}

// The environment has no lock: while it is changed, no other thread may read it.
bool is_only_thread() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return !error && std::distance(begin(threads), end(threads)) == 1;
}

// Sets a variable of the environment while a library loads: for it alone, not for child processes.
// What the user has set stays; nothing is set without a value, or while there are other threads.
class WhileLoading {
 public:
  WhileLoading(const char* name, const char* value)
      : name_(value != nullptr && std::getenv(name) == nullptr && is_only_thread() ? name
                                                                                   : nullptr) {
    if (name_ != nullptr) ::setenv(name_, value, 1);
  }
  ~WhileLoading() {
    if (name_ != nullptr) ::unsetenv(name_);
  }
  WhileLoading(const WhileLoading&) = delete;
  WhileLoading& operator=(const WhileLoading&) = delete;

 private:
  const char* name_;
};

int cblas(Op op) { return op == Op::kNone ? 111 : 112; }

}  // namespace

Library::Library(const std::string& name)
    : is_blis_(name.find("blis") != std::string::npos), shared_(name) {
  if (is_blis_) shared_.function<void()>("bli_init")();  // chooses its kernels
  shared_.bind(s_.gemm, "cblas_sgemm");
  shared_.bind(d_.gemm, "cblas_dgemm");
  shared_.bind(c_.gemm, "cblas_cgemm");
  shared_.bind(z_.gemm, "cblas_zgemm");
  shared_.bind(s_.gemv, "cblas_sgemv");
  shared_.bind(d_.gemv, "cblas_dgemv");
  shared_.bind(c_.gemv, "cblas_cgemv");
  shared_.bind(z_.gemv, "cblas_zgemv");
}

const Library& Library::openblas() {
  static const Library library = [] {
    const VectorUnit unit = vector_unit();
    const WhileLoading kernels("OPENBLAS_CORETYPE", unit == VectorUnit::kAvx512 ? "SkylakeX"
                                                    : unit == VectorUnit::kAvx2 ? "Haswell"
                                                                                : nullptr);
    // Else it starts a pool of threads, which spin for a while beside the one that works.
    const WhileLoading one_thread("OPENBLAS_NUM_THREADS", "1");
    return Library("libopenblas.so.0");
  }();
  return library;
}

const Library& Library::blis() {
  static const Library library = [] {
    // Its own numbers of the architectures: 0 is SkylakeX. What it finds below is right.
    const WhileLoading kernels("BLIS_ARCH_TYPE",
                               vector_unit() == VectorUnit::kAvx512 ? "0" : nullptr);
    return Library("libblis.so.4");
  }();
  return library;
}

void Library::set_threads(int threads) const {
  if (is_blis_) {
    shared_.function<void(std::int64_t)>("bli_thread_set_num_threads")(threads);
  } else {
    shared_.function<void(int)>("openblas_set_num_threads")(threads);
  }
}

int Library::threads() const {
  if (!is_blis_) return shared_.function<int()>("openblas_get_num_threads")();
  return static_cast<int>(shared_.function<std::int64_t()>("bli_thread_get_num_threads")());
}

std::string Library::description() const {
  const auto text = [this](const char* name) { return shared_.function<const char*()>(name)(); };
  if (!is_blis_) {
    return fmt::format("{}; kernels for {}", text("openblas_get_config"),
                       text("openblas_get_corename"));
  }
  const char* kernels = shared_.function<const char*(int)>("bli_arch_string")(
      shared_.function<int()>("bli_arch_query_id")());
  return fmt::format("BLIS {}; kernels for {}", text("bli_info_get_version_str"), kernels);
}

template <typename T>
const Library::Functions<T>& Library::functions() const {
  if constexpr (std::is_same_v<T, float>) return s_;
  if constexpr (std::is_same_v<T, double>) return d_;
  if constexpr (std::is_same_v<T, std::complex<float>>) return c_;
  if constexpr (std::is_same_v<T, std::complex<double>>) return z_;
}

template <typename T>
void Library::gemm(Order order, Op op_a, Op op_b, int m, int n, int k, T alpha, const T* a, int lda,
                   const T* b, int ldb, T beta, T* c, int ldc) const {
  functions<T>().gemm(static_cast<int>(order), cblas(op_a), cblas(op_b), m, n, k,
                      Scalar<T>::pass(alpha), a, lda, b, ldb, Scalar<T>::pass(beta), c, ldc);
}

template <typename T>
void Library::gemv(Order order, Op op_a, int m, int n, T alpha, const T* a, int lda, const T* x,
                   int incx, T beta, T* y, int incy) const {
  functions<T>().gemv(static_cast<int>(order), cblas(op_a), m, n, Scalar<T>::pass(alpha), a, lda, x,
                      incx, Scalar<T>::pass(beta), y, incy);
}

#define ASSAY_INSTANTIATE(T)                                                                       \
  template void Library::gemm<T>(Order, Op, Op, int, int, int, T, const T*, int, const T*, int, T, \
                                 T*, int) const;                                                   \
  template void Library::gemv<T>(Order, Op, int, int, T, const T*, int, const T*, int, T, T*, int) \
      const;
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay::blas
