// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/run/run_pair.h"

#include <complex>

#include "base/attend.h"
#include "einsum/kernels/contract_loops.h"
#include "einsum/kernels/gett.h"
#include "einsum/kernels/parallel.h"
#include "einsum/kernels/strided.h"
#include "kernels/blas/blas.h"

namespace assay::einsum {
namespace {

// Below this, waking a thread costs more than it brings (measured: some 10 µs of products).
constexpr double kWorthThreads = 1e6;  // flop

// One product, its rows or columns shared among threads.
template <typename T>
void shared_gemm(const GemmForm& f, const T* a, const T* b, T* c, T alpha, T beta, int threads) {
  const double flop = 2.0 * f.m * f.n * f.k;
  const bool by_rows = f.m >= f.n;
  constexpr std::int64_t kUnit = 16;  // rows or columns of a micro-kernel; parts are multiples
  const std::int64_t units = ((by_rows ? f.m : f.n) + kUnit - 1) / kUnit;
  parallel_parts(flop < kWorthThreads ? 1 : threads, units, [&](std::int64_t u0, std::int64_t u1) {
    const int first = static_cast<int>(u0 * kUnit);
    const int last = std::min(static_cast<int>(u1 * kUnit), by_rows ? f.m : f.n);
    const std::int64_t skip = first;
    if (by_rows) {
      const T* rows = a + skip * (f.op_a == blas::Op::kNone ? f.lda : 1);
      blas::gemm<T>(f.op_a, f.op_b, last - first, f.n, f.k, alpha, rows, f.lda, b, f.ldb, beta,
                    c + skip * f.ldc, f.ldc);
    } else {
      const T* columns = b + skip * (f.op_b == blas::Op::kNone ? 1 : f.ldb);
      blas::gemm<T>(f.op_a, f.op_b, f.m, last - first, f.k, alpha, a, f.lda, columns, f.ldb, beta,
                    c + skip, f.ldc);
    }
  });
}

// Runs body(a, b, c, beta, threads) for each index of the loops: those of `free` shared among
// threads if there are enough of them, those of `summed` one after the other.
template <typename T, typename Body>
void for_each_product(const std::vector<Loop>& free, const std::vector<Loop>& summed, double flop,
                      int threads, const T* a, const T* b, T* c, T beta, Body&& body) {
  const std::int64_t products = iterations(free), sums = iterations(summed);
  if (products == 1 && sums == 1) {
    body(a, b, c, beta, threads);
    return;
  }
  const bool share =
      products >= threads && flop * static_cast<double>(products * sums) >= kWorthThreads;
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    Odometer at(free), sum(summed);
    at.seek(begin);
    for (std::int64_t i = begin; i < end; ++i, at.next()) {
      sum.seek(0);
      for (std::int64_t s = 0; s < sums && still_wanted(); ++s, sum.next()) {
        body(a + at.a() + sum.a(), b + at.b() + sum.b(), c + at.c(), s == 0 ? beta : T(1),
             share ? 1 : threads);
      }
    }
  };
  if (share) {
    parallel_parts(threads, products, run);
  } else {
    run(0, products);
  }
}

template <typename T>
void run_gemm(const GemmForm& f, const T* a, const T* b, T* c, T alpha, T beta, int threads,
              Counters& counters) {
  counters.gemm_calls += iterations(f.free) * iterations(f.summed);
  for_each_product<T>(f.free, f.summed, 2.0 * f.m * f.n * f.k, threads, a, b, c, beta,
                      [&](const T* x, const T* y, T* z, T keep, int share) {
                        if (f.swapped) std::swap(x, y);
                        shared_gemm<T>(f, x, y, z, alpha, keep, share);
                      });
}

template <typename T>
void run_gemv(const GemvForm& f, const T* a, const T* b, T* c, T alpha, T beta, int threads,
              Counters& counters) {
  counters.gemv_calls += iterations(f.free) * iterations(f.summed);
  for_each_product<T>(f.free, f.summed, 2.0 * f.rows * f.columns, threads, a, b, c, beta,
                      [&](const T* x, const T* y, T* z, T keep, int) {
                        if (f.swapped) std::swap(x, y);
                        blas::gemv<T>(f.op, f.rows, f.columns, alpha, x, f.ld, y, f.incx, keep, z,
                                      f.incy);
                      });
}

template <typename T>
void run_gett(const GettForm& f, const PairSize& size, const T* a, const T* b, T* c, T alpha,
              T beta, int threads, Counters& counters) {
  counters.gemm_calls += iterations(f.batch);
  if (f.swapped) std::swap(a, b);
  const double flop = 2 * size.m * size.n * size.k;
  for_each_product<T>(f.batch, {}, flop, threads, a, b, c, beta,
                      [&](const T* x, const T* y, T* z, T keep, int share) {
                        contract_gett<T>(f, x, y, z, alpha, keep, flop < kWorthThreads ? 1 : share);
                      });
}

// The kernel itself, on tensors as it wants them.
template <typename T>
void run_kernel(const Lowered& step, const T* a, const T* b, T* c, T alpha, T beta, int threads,
                Counters& counters) {
  switch (step.kernel) {
    case Kernel::kCopy:
    case Kernel::kDot:
    case Kernel::kOuter:
    case Kernel::kHadamard:
    case Kernel::kLoops:
      contract_loops<T>(step.loops, a, b, c, alpha, beta, threads);
      return;
    case Kernel::kGemv:
      run_gemv<T>(step.gemv, a, b, c, alpha, beta, threads, counters);
      return;
    case Kernel::kGemm:
    case Kernel::kBatchedGemm:
    case Kernel::kLoopedGemm:
    case Kernel::kTransposeGemm:
      run_gemm<T>(step.gemm, a, b, c, alpha, beta, threads, counters);
      return;
    case Kernel::kGett:
      run_gett<T>(step.gett, step.size, a, b, c, alpha, beta, threads, counters);
  }
}

}  // namespace

template <typename T>
void run_pair(const Lowered& step, const T* a, const T* b, T* c, T alpha, T beta, int threads,
              Workspace& workspace, Counters& counters) {
  ++counters.kernels[static_cast<std::size_t>(step.kernel)];
  counters.copied_bytes += step.copied_bytes;
  Workspace::Buffer packed_a, packed_b, product;
  if (step.packed_a > 0) {
    packed_a = workspace.take<T>(step.packed_a);
    permute<T>(step.pack_a, a, packed_a.template data<T>(), T(1), T(0), threads);
    a = packed_a.template data<T>();
  }
  if (step.packed_b > 0) {
    packed_b = workspace.take<T>(step.packed_b);
    permute<T>(step.pack_b, b, packed_b.template data<T>(), T(1), T(0), threads);
    b = packed_b.template data<T>();
  }
  if (step.temporary_c == 0) {
    run_kernel<T>(step, a, b, c, alpha, beta, threads, counters);
    return;
  }
  product = workspace.take<T>(step.temporary_c);
  T* const t = product.template data<T>();
  run_kernel<T>(step, a, b, t, T(1), T(0), threads, counters);
  permute<T>(step.unpack_c, t, c, alpha, beta, threads);
}

#define ASSAY_INSTANTIATE(T)                                                               \
  template void run_pair<T>(const Lowered&, const T*, const T*, T*, T, T, int, Workspace&, \
                            Counters&);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum
