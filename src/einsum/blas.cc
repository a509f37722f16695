// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/blas.h"

#include <algorithm>

#include "base/error.h"
#include "base/shared_library.h"

namespace assay::einsum {
namespace {

// Values of the CBLAS interface.
constexpr int kRowMajor = 101, kNoTranspose = 111, kTransposed = 112;

int cblas(Op op) { return op == Op::kNone ? kNoTranspose : kTransposed; }

template <typename F>
void resolve(const SharedLibrary& library, const char* name, F*& function) {
  function = library.function<F>(name);
}

// CBLAS passes real scalars by value and complex ones by address.
template <typename T>
struct Scalar {
  using Type = T;
  static T pass(const T& value) { return value; }
};
template <typename T>
struct Scalar<std::complex<T>> {
  using Type = const void*;
  static const void* pass(const std::complex<T>& value) { return &value; }
};

template <typename T>
struct Level23 {
  using S = typename Scalar<T>::Type;
  void (*gemm)(int, int, int, int, int, int, S, const T*, int, const T*, int, S, T*, int);
  void (*gemv)(int, int, int, int, S, const T*, int, const T*, int, S, T*, int);
};

template <typename T>
struct Lapack {
  void (*syevd)(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*,
                const int*, int*);
  void (*gesdd)(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*,
                const int*, T*, const int*, int*, int*);
  void (*potrf)(const char*, const int*, T*, const int*, int*);
  void (*potrs)(const char*, const int*, const int*, const T*, const int*, T*, const int*, int*);
  void (*geqrf)(const int*, const int*, T*, const int*, T*, T*, const int*, int*);
  void (*orgqr)(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);
};

struct Library {
  Level23<float> s;
  Level23<double> d;
  Level23<std::complex<float>> c;
  Level23<std::complex<double>> z;
  Lapack<float> ls;
  Lapack<double> ld;
  std::string description;

  Library() {
    const SharedLibrary& library = openblas();
    resolve(library, "cblas_sgemm", s.gemm);
    resolve(library, "cblas_dgemm", d.gemm);
    resolve(library, "cblas_cgemm", c.gemm);
    resolve(library, "cblas_zgemm", z.gemm);
    resolve(library, "cblas_sgemv", s.gemv);
    resolve(library, "cblas_dgemv", d.gemv);
    resolve(library, "cblas_cgemv", c.gemv);
    resolve(library, "cblas_zgemv", z.gemv);
    resolve_lapack(library, 's', ls);
    resolve_lapack(library, 'd', ld);
    set_openblas_threads(1);
    description = openblas_description();
  }

 private:
  template <typename T>
  static void resolve_lapack(const SharedLibrary& library, char letter, Lapack<T>& f) {
    const auto name = [letter](const char* rest) { return fmt::format("{}{}_", letter, rest); };
    resolve(library, name("syevd").c_str(), f.syevd);
    resolve(library, name("gesdd").c_str(), f.gesdd);
    resolve(library, name("potrf").c_str(), f.potrf);
    resolve(library, name("potrs").c_str(), f.potrs);
    resolve(library, name("geqrf").c_str(), f.geqrf);
    resolve(library, name("orgqr").c_str(), f.orgqr);
  }
};

const Library& library() {
  static const Library kLoaded;
  return kLoaded;
}

template <typename T>
const Level23<T>& level23() {
  if constexpr (std::is_same_v<T, float>) return library().s;
  if constexpr (std::is_same_v<T, double>) return library().d;
  if constexpr (std::is_same_v<T, std::complex<float>>) return library().c;
  if constexpr (std::is_same_v<T, std::complex<double>>) return library().z;
}

template <typename T>
const Lapack<T>& lapack() {
  if constexpr (std::is_same_v<T, float>) {
    return library().ls;
  } else {
    return library().ld;
  }
}

void check_info(int info, const char* routine) {
  check(info >= 0, fmt::format("{} takes its arguments", routine));
  if (info > 0) fail("{} did not converge: the matrix has NaN or infinite entries", routine);
}

}  // namespace

const std::string& blas_description() { return library().description; }

template <typename T>
void gemm(Op op_a, Op op_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb,
          T beta, T* c, int ldc) {
  level23<T>().gemm(kRowMajor, cblas(op_a), cblas(op_b), m, n, k, Scalar<T>::pass(alpha), a, lda, b,
                    ldb, Scalar<T>::pass(beta), c, ldc);
}

template <typename T>
void gemv(Op op_a, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta, T* y,
          int incy) {
  level23<T>().gemv(kRowMajor, cblas(op_a), m, n, Scalar<T>::pass(alpha), a, lda, x, incx,
                    Scalar<T>::pass(beta), y, incy);
}

template <typename T>
std::vector<T> eigen_symmetric(int n, T* a) {
  std::vector<T> values(static_cast<std::size_t>(n));
  if (n == 0) return values;
  int info = 0, query = -1, integer_size = 0;
  T size = 0;
  const int ld = n;
  lapack<T>().syevd("V", "L", &n, a, &ld, values.data(), &size, &query, &integer_size, &query,
                    &info);
  check_info(info, "syevd");
  std::vector<T> work(static_cast<std::size_t>(size) + 1);
  std::vector<int> integers(static_cast<std::size_t>(integer_size));
  const int work_size = static_cast<int>(work.size());
  lapack<T>().syevd("V", "L", &n, a, &ld, values.data(), work.data(), &work_size, integers.data(),
                    &integer_size, &info);
  check_info(info, "syevd");
  return values;
}

template <typename T>
Svd<T> svd(int m, int n, T* a) {
  const int r = std::min(m, n);
  Svd<T> result;
  result.s.resize(static_cast<std::size_t>(r));
  result.u.resize(static_cast<std::size_t>(m) * static_cast<std::size_t>(r));
  result.vt.resize(static_cast<std::size_t>(r) * static_cast<std::size_t>(n));
  if (r == 0) return result;
  std::vector<int> integers(static_cast<std::size_t>(8 * r));
  int info = 0, query = -1;
  T size = 0;
  lapack<T>().gesdd("S", &m, &n, a, &m, result.s.data(), result.u.data(), &m, result.vt.data(), &r,
                    &size, &query, integers.data(), &info);
  check_info(info, "gesdd");
  std::vector<T> work(static_cast<std::size_t>(size) + 1);
  const int work_size = static_cast<int>(work.size());
  lapack<T>().gesdd("S", &m, &n, a, &m, result.s.data(), result.u.data(), &m, result.vt.data(), &r,
                    work.data(), &work_size, integers.data(), &info);
  if (info < 0) fail("gesdd did not converge: the matrix has NaN or infinite entries");
  check_info(info, "gesdd");
  return result;
}

template <typename T>
bool solve_positive_definite(int n, T* a, int nrhs, T* b) {
  if (n == 0) return true;
  int info = 0;
  lapack<T>().potrf("L", &n, a, &n, &info);
  check(info >= 0, "potrf takes its arguments");
  if (info > 0) return false;
  lapack<T>().potrs("L", &n, &nrhs, a, &n, b, &n, &info);
  check_info(info, "potrs");
  return true;
}

template <typename T>
void orthonormalize(int m, int n, T* a, T* r) {
  check(m >= n, "QR of a tall matrix");
  if (n == 0) return;
  int info = 0, query = -1;
  T size = 0;
  std::vector<T> tau(static_cast<std::size_t>(n));
  lapack<T>().geqrf(&m, &n, a, &m, tau.data(), &size, &query, &info);
  T second = 0;
  lapack<T>().orgqr(&m, &n, &n, a, &m, tau.data(), &second, &query, &info);
  std::vector<T> work(static_cast<std::size_t>(std::max(size, second)) + 1);
  const int work_size = static_cast<int>(work.size());
  lapack<T>().geqrf(&m, &n, a, &m, tau.data(), work.data(), &work_size, &info);
  check_info(info, "geqrf");
  if (r != nullptr) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) r[i + j * n] = i <= j ? a[i + static_cast<long>(j) * m] : T(0);
    }
  }
  lapack<T>().orgqr(&m, &n, &n, a, &m, tau.data(), work.data(), &work_size, &info);
  check_info(info, "orgqr");
}

#define ASSAY_INSTANTIATE(T)                                                                 \
  template void gemm<T>(Op, Op, int, int, int, T, const T*, int, const T*, int, T, T*, int); \
  template void gemv<T>(Op, int, int, T, const T*, int, const T*, int, T, T*, int);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE
#define ASSAY_INSTANTIATE(T)                                  \
  template std::vector<T> eigen_symmetric<T>(int, T*);        \
  template Svd<T> svd<T>(int, int, T*);                       \
  template bool solve_positive_definite<T>(int, T*, int, T*); \
  template void orthonormalize<T>(int, int, T*, T*);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
#undef ASSAY_INSTANTIATE

// A panel of all rows (OpenBLAS, column-major, takes them for columns) and a block of the others'
// columns, by the terms of one pass. Its kernels for different processors take blocks of 192 to
// 1024 columns and 256 to 512 terms.
double gemm_packing(double m, double n, double k) {
  constexpr double kMostTerms = 512, kMostColumns = 1024;
  return std::min(k, kMostTerms) * (m + std::min(n, kMostColumns));
}

double gemv_packing(double rows, double columns) { return rows + columns; }

}  // namespace assay::einsum
