// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The bars of the transport suite on one core: the rate of each solver as a share of the rate of
// the dgemm it is linked with, at equal N, and the ratios between solvers. Run by hand:
//
//   build/bench/transport_bars [REPEATS]
//
// dgemm and the solvers take turns; each figure is the median over turns of a ratio within one
// turn, so that a slow moment of the machine falls on both sides.

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

#include "kernels/blas/blas.h"
#include "transport/solve.h"

namespace {

using namespace assay::transport;

// Time of this thread on a processor: what other programs take away does not count.
double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds(const std::function<void()>& call) {
  const double begin = cpu_seconds();
  call();
  return cpu_seconds() - begin;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// Seconds of an N×N×N product, the median of a few.
double product_seconds(int n) {
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const std::vector<double> a(size, 0.5), b(size, 0.25);
  std::vector<double> c(size);
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    times.push_back(seconds([&] {
      assay::blas::gemm_columns(assay::blas::Op::kNone, assay::blas::Op::kNone, n, n, n, 1.0,
                                a.data(), n, b.data(), n, 0.0, c.data(), n);
    }));
  }
  return median(times);
}

void measure(const Grid& grid, int repeats) {
  const auto prepared = prepare(builtin_surface("example"), grid);
  const double n = grid.points(), steps = grid.n_xi;
  const double cube = n * n * n;
  const double dense_flops = 14.0 / 3 * steps * cube;
  const double structured_flops = steps * (2 * cube + 4 * n * n * (grid.n_theta + grid.n_zeta));
  Workspace workspace;
  const auto time = [&](Method method, double field) {
    return seconds([&] { solve(prepared, {1e-3, field}, {.method = method}, workspace); });
  };
  time(Method::kDense, 1e-3);
  time(Method::kStructured, 1e-3);
  std::vector<double> rate, dense, structured, faster, parity, mixed, times_d, times_s, times_p;
  for (int i = 0; i < repeats; ++i) {
    const double product = product_seconds(grid.points());
    const double d = time(Method::kDense, 1e-3), s = time(Method::kStructured, 1e-3),
                 d0 = time(Method::kDense, 0), p = time(Method::kParity, 0),
                 m = time(Method::kMixed, 1e-3);
    const double gemm_rate = 2 * cube / product;
    rate.push_back(gemm_rate);
    dense.push_back(dense_flops / d / gemm_rate);
    structured.push_back(structured_flops / s / gemm_rate);
    faster.push_back(d / s);
    parity.push_back(d0 / p);
    mixed.push_back(d / m);
    times_d.push_back(d);
    times_s.push_back(s);
    times_p.push_back(p);
  }
  fmt::print(
      "{:>3}x{}x{:<4} N {:4}: dgemm {:5.1f} Gflop/s | dense {:7.2f} ms, {:3.0f} % of dgemm | "
      "structured {:7.2f} ms, {:3.0f} %, {:.2f}x dense | parity {:7.2f} ms, {:.2f}x dense | mixed "
      "{:.2f}x dense\n",
      grid.n_theta, grid.n_zeta, grid.n_xi, grid.points(), median(rate) * 1e-9,
      median(times_d) * 1e3, 100 * median(dense), median(times_s) * 1e3, 100 * median(structured),
      median(faster), median(times_p) * 1e3, median(parity), median(mixed));
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 11;
  fmt::print("{}\nbars: dense 85 %, structured 75 % and 1.5x, parity 5x\n",
             assay::blas::description() + "; 1 thread");
  measure({9, 11, 6}, 5 * repeats);
  measure({17, 25, 16}, repeats);
  measure({25, 25, 60}, std::max(3, repeats / 3));
}
