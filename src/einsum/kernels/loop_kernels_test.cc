// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/loop_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/philox.h"

namespace assay::einsum {
namespace {

template <typename T>
std::vector<T> numbers(std::int64_t count, std::uint64_t seed) {
  std::vector<T> all(static_cast<std::size_t>(count));
  const Philox random(seed, stream_key("tiles"));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<T>(2 * unit_interval(random[i]) - 1);
  }
  return all;
}

struct Extents {
  std::int64_t p, h, k, i;
};

// One tile against loops in double. Every stride leaves a gap, but for those that are 0 or 1.
template <typename T>
void check_tile(const Extents& e, std::int64_t yi, std::int64_t ci, bool has_y, bool shares,
                T alpha, T beta) {
  const std::int64_t xk = e.i + 3, xh = xk * e.k + 1, xp = shares ? 0 : xh * e.h + 2;
  const std::int64_t yk = yi == 0 ? 2 : e.i + 1, yh = yk * e.k + 3, yp = yh * e.h + 1;
  const std::int64_t cp = ci == 0 ? 3 : ci * e.i + 1;
  const auto x = numbers<T>((xp + 1) * e.p + xh * e.h + e.i, 1);
  const auto y = numbers<T>((yp + 1) * e.p + yh * e.h + e.i, 2);
  auto c = numbers<T>(cp * e.p + e.i * ci + 1, 3);
  const auto before = c;
  if (beta == T(0)) std::ranges::fill(c, std::numeric_limits<T>::quiet_NaN());
  run_loop_tile<T>({.x = x.data(),
                    .y = has_y ? y.data() : nullptr,
                    .c = c.data(),
                    .p = e.p,
                    .h = e.h,
                    .k = e.k,
                    .i = e.i,
                    .xp = xp,
                    .xh = xh,
                    .xk = xk,
                    .yp = yp,
                    .yh = yh,
                    .yk = yk,
                    .yi = yi,
                    .cp = cp,
                    .ci = ci,
                    .alpha = alpha,
                    .beta = beta,
                    .reads = beta != T(0)});
  const double u = std::numeric_limits<T>::epsilon();
  for (std::int64_t p = 0; p < e.p; ++p) {
    for (std::int64_t o = 0; o < (ci == 0 ? 1 : e.i); ++o) {
      double sum = 0, scale = 0;
      for (std::int64_t h = 0; h < e.h; ++h) {
        for (std::int64_t k = 0; k < e.k; ++k) {
          for (std::int64_t i = ci == 0 ? 0 : o; i < (ci == 0 ? e.i : o + 1); ++i) {
            const double left = x[static_cast<std::size_t>(p * xp + h * xh + k * xk + i)];
            const double right =
                has_y ? y[static_cast<std::size_t>(p * yp + h * yh + k * yk + i * yi)] : 1;
            sum += left * right;
            scale += std::abs(left * right);
          }
        }
      }
      const auto at = static_cast<std::size_t>(p * cp + o * ci);
      const double kept = beta == T(0) ? 0 : double(beta) * before[at];
      const double terms = static_cast<double>(e.h * e.k * e.i + 4);
      // Any order of the sum; scaling and adding round once each.
      const double allowed = u * (terms * std::abs(double(alpha)) * scale + 2 * std::abs(kept));
      ASSERT_NEAR(c[at], double(alpha) * sum + kept, allowed + 1e-30)
          << e.p << " " << e.h << " " << e.k << " " << e.i << " at " << p << ", " << o;
    }
  }
}

template <typename T>
class LoopKernels : public ::testing::Test {};
using LoopTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LoopKernels, LoopTypes);

// Below, at and above the lengths of vectors and tiles, whatever their width here.
TYPED_TEST(LoopKernels, GiveWhatPlainLoopsGive) {
  using T = TypeParam;
  for (const std::int64_t i : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 130}) {
    for (const std::int64_t p : {1, 2, 3, 4, 5, 9}) {
      for (const auto& [h, k] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 2}, {3, 5}}) {
        for (const bool scaled : {false, true}) {
          const T alpha = scaled ? T(-1.5) : T(1), beta = scaled ? T(0.5) : T(0);
          const Extents e{p, h, k, i};
          for (const std::int64_t ci : {1, 3}) {
            for (const bool shares : {false, true}) {
              check_tile<T>(e, 0, ci, true, shares, alpha, beta);
              check_tile<T>(e, 1, ci, true, shares, alpha, beta);
              check_tile<T>(e, 0, ci, false, shares, alpha, beta);
            }
          }
          check_tile<T>(e, 1, 0, true, false, alpha, beta);
          check_tile<T>(e, 1, 0, true, true, alpha, beta);
          check_tile<T>(e, 1, 0, false, false, alpha, beta);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::einsum
