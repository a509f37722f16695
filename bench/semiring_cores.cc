// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// One contender of semiring_cores.py: our kernels, or a BLAS, measured on request.
//
//   semiring_cores                  our own
//   semiring_cores libopenblas.so.0
//
// Each line of standard input asks, each line of standard output answers with the fastest and the
// median call in seconds, of as many as fit the seconds given:
//
//   matmul f32|f64 M K N THREADS SECONDS
//   edges sum|max N K D THREADS SECONDS        ours alone
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/philox.h"
#include "kernels/blas/library.h"
#include "semiring/ell.h"
#include "semiring/matmul.h"
#include "tensor/fill.h"

namespace assay::bench {
namespace {

using semiring::Algebra;
using semiring::Backend;
using semiring::SimdOptions;

void measure(double seconds, const std::function<void()>& call) {
  call();
  std::vector<double> times;
  const std::int64_t start = monotonic_ns();
  std::int64_t before = start;
  do {
    call();
    const std::int64_t after = monotonic_ns();
    times.push_back(static_cast<double>(after - before) * 1e-9);
    before = after;
  } while (times.size() < 2 || static_cast<double>(before - start) * 1e-9 < seconds);
  std::sort(times.begin(), times.end());
  fmt::print("{} {}\n", times.front(), times[times.size() / 2]);
  std::fflush(stdout);
}

Tensor unit(DType dtype, Shape shape, std::uint64_t seed) {
  Tensor t(dtype, std::move(shape));
  fill_uniform(t.mutable_view(), Philox(seed), -std::sqrt(3.0), std::sqrt(3.0));
  return t;
}

// A BLAS by its C interface; nothing loaded: our own kernels.
class Contender {
 public:
  explicit Contender(const char* library) {
    if (library != nullptr) blas_.emplace(library);
  }

  void matmul(DType dtype, std::int64_t m, std::int64_t k, std::int64_t n, int threads,
              double seconds) {
    const Tensor a = unit(dtype, Shape{m, k}, 1), b = unit(dtype, Shape{k, n}, 2);
    Tensor c(dtype, Shape{m, n});
    if (!blas_) {
      const SimdOptions simd{.threads = threads, .caches = caches_};
      return measure(seconds, [&] {
        semiring::matmul(Algebra::kReal, a.view(), b.view(), c.mutable_view(),
                         {.backend = Backend::kSimd, .simd = simd});
      });
    }
    blas_->set_threads(threads);
    dtype == DType::kF32 ? gemm<float>(a, b, c, seconds) : gemm<double>(a, b, c, seconds);
  }

  void edges(semiring::EdgeReduce reduce, std::int64_t n, std::int64_t k, std::int64_t d,
             int threads, double seconds) {
    const Tensor x = unit(DType::kF32, Shape{n, d}, 1), w = unit(DType::kF32, Shape{d, d}, 2);
    Tensor v(DType::kF32, Shape{n, k}), idx(DType::kI32, Shape{n, k}),
        out(DType::kF32, Shape{n, d});
    fill_uniform(v.mutable_view(), Philox(3), 0, 1);
    fill_below(idx.mutable_view(), Philox(4), static_cast<std::uint64_t>(n));
    const SimdOptions simd{.threads = threads, .caches = caches_};
    measure(seconds, [&] {
      semiring::ell_edge_aggregate(reduce, v.view(), idx.view(), x.view(), w.view(),
                                   out.mutable_view(), {.backend = Backend::kSimd, .simd = simd});
    });
  }

 private:
  template <typename T>
  void gemm(const Tensor& a, const Tensor& b, Tensor& c, double seconds) const {
    const int m = static_cast<int>(a.shape()[0]), k = static_cast<int>(a.shape()[1]);
    const int n = static_cast<int>(b.shape()[1]);
    measure(seconds, [&] {
      blas_->gemm<T>(blas::Order::kRows, blas::Op::kNone, blas::Op::kNone, m, n, k, T{1},
                     a.as<T>().data(), k, b.as<T>().data(), n, T{0}, c.as<T>().data(), n);
    });
  }

  std::optional<blas::Library> blas_;
  kernels::CacheSizes caches_ = kernels::read_cache_sizes();
};

int run(const char* library) {
  Contender contender(library);
  std::string what, kind;
  std::int64_t x, y, z;
  int threads;
  double seconds;
  while (std::cin >> what >> kind >> x >> y >> z >> threads >> seconds) {
    if (what == "matmul") {
      contender.matmul(kind == "f64" ? DType::kF64 : DType::kF32, x, y, z, threads, seconds);
    } else {
      contender.edges(semiring::edge_reduce_from_name(kind, "edges"), x, y, z, threads, seconds);
    }
  }
  return 0;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  try {
    return assay::bench::run(argc > 1 ? argv[1] : nullptr);
  } catch (const std::exception& e) {
    fmt::print(stderr, "semiring_cores: {}\n", e.what());
    return 1;
  }
}
