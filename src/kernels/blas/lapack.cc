// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/blas/lapack.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/blas/blas.h"

namespace assay::blas {
namespace {

template <typename T>
struct Lapack {  // Fortran calls pass everything by address.
  void (*syevd)(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*,
                const int*, int*);
  void (*gesdd)(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*,
                const int*, T*, const int*, int*, int*);
  void (*potrf)(const char*, const int*, T*, const int*, int*);
  void (*potri)(const char*, const int*, T*, const int*, int*);
  void (*potrs)(const char*, const int*, const int*, const T*, const int*, T*, const int*, int*);
  void (*geqrf)(const int*, const int*, T*, const int*, T*, T*, const int*, int*);
  void (*orgqr)(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);
  void (*getrs)(const char*, const int*, const int*, const T*, const int*, const int*, T*,
                const int*, int*);

  explicit Lapack(char letter) {
    const kernels::SharedLibrary& library = one_thread().shared();
    const auto bind = [&](auto& function, const char* name) {
      library.bind(function, fmt::format("{}{}_", letter, name).c_str());
    };
    bind(syevd, "syevd");
    bind(gesdd, "gesdd");
    bind(potrf, "potrf");
    bind(potri, "potri");
    bind(potrs, "potrs");
    bind(geqrf, "geqrf");
    bind(orgqr, "orgqr");
    bind(getrs, "getrs");
  }
};

template <typename T>
const Lapack<T>& lapack() {
  static const Lapack<T> loaded(std::is_same_v<T, float> ? 's' : 'd');
  return loaded;
}

void check_info(int info, const char* routine) {
  check(info >= 0, fmt::format("{} takes its arguments", routine));
  if (info > 0) fail("{} did not converge: the matrix has NaN or infinite entries", routine);
}

}  // namespace

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

void solve_lu(Op op, int n, int columns, const double* a, int lda, const std::vector<int>& pivots,
              double* b, int ldb) {
  const char t = static_cast<char>(op);
  int info = 0;
  lapack<double>().getrs(&t, &n, &columns, a, &lda, pivots.data(), b, &ldb, &info);
  check(info == 0, "getrs gets valid arguments");
}

bool invert_spd(int n, double* a, int lda) {
  int info = 0;
  lapack<double>().potrf("L", &n, a, &lda, &info);
  if (info > 0) return false;
  lapack<double>().potri("L", &n, a, &lda, &info);
  check(info >= 0, "potri gets valid arguments");
  if (info > 0) return false;
  for (int c = 0; c < n; ++c) {
    for (int r = c + 1; r < n; ++r) {
      a[c + static_cast<std::ptrdiff_t>(r) * lda] = a[r + static_cast<std::ptrdiff_t>(c) * lda];
    }
  }
  return true;
}

#define ASSAY_INSTANTIATE(T)                                  \
  template std::vector<T> eigen_symmetric<T>(int, T*);        \
  template Svd<T> svd<T>(int, int, T*);                       \
  template bool solve_positive_definite<T>(int, T*, int, T*); \
  template void orthonormalize<T>(int, int, T*, T*);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
#undef ASSAY_INSTANTIATE

}  // namespace assay::blas
