// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Distances whose squares no floating-point number holds. The oracle sums in long double, whose
// exponents reach 10^±4932.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "semiring/ell.h"
#include "semiring/matmul.h"
#include "semiring/test_tensors.h"

namespace assay::semiring {
namespace {

static_assert(std::numeric_limits<long double>::max_exponent > 2 * 1024 + 64);

long double distance(const TensorView& a, const TensorView& b, std::int64_t i, std::int64_t j) {
  long double sum = 0;
  for (std::int64_t l = 0; l < a.extent(1); ++l) {
    const long double d = static_cast<long double>(value_as_double(a, i * a.extent(1) + l)) -
                          static_cast<long double>(value_as_double(b, l * b.extent(1) + j));
    sum += d * d;
  }
  return std::sqrt(sum);
}

// Every entry as the claim of docs/methods/semiring.md has it, and one denormal in addition.
void expect_distances(const TensorView& a, const TensorView& b, Backend backend,
                      const std::string& what) {
  const bool is_single = a.dtype() == DType::kF32;
  Tensor c(a.dtype(), Shape{a.extent(0), b.extent(1)});
  matmul(Algebra::kEuclidean, a, b, c.mutable_view(), {.backend = backend});
  const double u = is_single ? 0x1p-24 : 0x1p-53;
  const double k = static_cast<double>(a.extent(1));
  const double relative = u * (8 * std::sqrt(k) + 16) + (backend == Backend::kSimd ? 0 : k * u);
  const long double least = is_single ? 0x1p-149L : 0x1p-1074L;
  const long double most =
      is_single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  int failures = 0;
  for (std::int64_t i = 0; i < a.extent(0) && failures < 3; ++i) {
    for (std::int64_t j = 0; j < b.extent(1) && failures < 3; ++j) {
      const long double expected = distance(a, b, i, j);
      const double x = value_as_double(c.view(), i * b.extent(1) + j);
      if (std::isnan(expected) ? std::isnan(x) : expected > most ? std::isinf(x) : false) continue;
      if (std::abs(x - expected) <= relative * expected + least) continue;
      ADD_FAILURE() << what << " at " << i << ',' << j << ": " << x << " instead of "
                    << static_cast<double>(expected);
      ++failures;
    }
  }
}

class DistanceRange : public testing::TestWithParam<Backend> {};
INSTANTIATE_TEST_SUITE_P(, DistanceRange, testing::Values(Backend::kReference, Backend::kSimd),
                         [](const auto& param) {
                           return param.param == Backend::kSimd ? "Simd" : "Reference";
                         });

template <typename T>
Tensor scaled(const Tensor& tensor, double factor) {
  Tensor result = Tensor::copy(tensor.view());
  for (T& x : result.as<T>()) x = static_cast<T>(static_cast<double>(x) * factor);
  return result;
}

template <typename T>
void expect_at_scales(std::initializer_list<double> scales, Backend backend) {
  for (const auto& [m, k, n] : {std::tuple{13, 37, 34}, {3, 5000, 5}}) {
    const Tensor a = random_tensor(kDTypeOf<T>, Shape{m, k}, 1);
    const Tensor b = random_tensor(kDTypeOf<T>, Shape{k, n}, 2);
    for (const double scale : scales) {
      const Tensor x = scaled<T>(a, scale), y = scaled<T>(b, scale);
      expect_distances(x.view(), y.view(), backend, fmt::format("{} times", scale));
      // Near-duplicates: column j is row j but for a few units in the last place.
      Tensor near = Tensor::copy(y.view());
      for (std::int64_t j = 0; j < std::min(m, n); ++j) {
        for (std::int64_t l = 0; l < k; ++l) {
          const T value = x.as<T>()[static_cast<std::size_t>(j * k + l)];
          near.as<T>()[static_cast<std::size_t>(l * n + j)] =
              l % 3 == 0 ? std::nextafter(value, T{0}) : value;
        }
      }
      expect_distances(x.view(), near.view(), backend, fmt::format("{} times, near", scale));
    }
  }
}

TEST_P(DistanceRange, AtEveryScale) {
  expect_at_scales<double>({1e-320, 1e-300, 1e-170, 1e-160, 1e-150, 1e150, 1e160, 1e300, 1e307},
                           GetParam());
  expect_at_scales<float>({1e-43, 1e-37, 1e-25, 1e-20, 1e-18, 1e18, 1e20, 1e25, 1e37}, GetParam());
}

// Sizes of all kinds in one sum, with zeros, and with infinities and NaN among them.
template <typename T>
void expect_mixed(std::initializer_list<double> sizes, Backend backend) {
  constexpr std::int64_t kM = 17, kK = 41, kN = 35;
  const std::vector<double> all(sizes);
  for (const bool special : {false, true}) {
    Tensor factors[2] = {random_tensor(kDTypeOf<T>, Shape{kM, kK}, 3),
                         random_tensor(kDTypeOf<T>, Shape{kK, kN}, 4)};
    const Philox random(5);
    std::uint64_t at = 0;
    for (Tensor& factor : factors) {
      for (T& x : factor.as<T>()) {
        const std::uint64_t raw = random[at++];
        x = static_cast<T>(static_cast<double>(x) * all[raw % all.size()]);
        if (special && raw / 64 % 64 == 0) {
          x = raw % 2 == 0 ? std::numeric_limits<T>::infinity()
                           : std::numeric_limits<T>::quiet_NaN();
        }
      }
    }
    expect_distances(factors[0].view(), factors[1].view(), backend,
                     special ? "mixed, with specials" : "mixed");
  }
}

TEST_P(DistanceRange, AllSizesInOneSum) {
  expect_mixed<double>({1e160, 1, 1e-170, 0}, GetParam());
  expect_mixed<double>({1e-170, 1e-160, 1e-300, 1e-320}, GetParam());
  expect_mixed<double>({1e300, 1e150, 1e-300, 1e308}, GetParam());
  expect_mixed<float>({1e25, 1, 1e-25, 0}, GetParam());
  expect_mixed<float>({1e-25, 1e-30, 1e-44}, GetParam());
  expect_mixed<float>({1e38, 1e18, 1e-30}, GetParam());
}

TEST_P(DistanceRange, OverEdges) {
  for (const double scale : {1e-300, 1e-170, 1e160, 1e300}) {
    const Tensor v = scaled<double>(random_tensor(DType::kF64, Shape{40, 7}, 1), scale);
    const Tensor x = scaled<double>(random_tensor(DType::kF64, Shape{40, 19}, 2), scale);
    const Tensor idx = random_indices(40, 7, 40, 3);
    Tensor out(DType::kF64, Shape{40, 19});
    ell_matmul(Algebra::kEuclidean, v.view(), idx.view(), x.view(), out.mutable_view(),
               {.backend = GetParam()});
    for (std::int64_t i = 0; i < 40; ++i) {
      for (std::int64_t f = 0; f < 19; ++f) {
        long double sum = 0;
        for (std::int64_t p = 0; p < 7; ++p) {
          const std::int32_t source = idx.view().at<std::int32_t>(i, p);
          if (source < 0) continue;
          const long double d = static_cast<long double>(v.view().at<double>(i, p)) -
                                static_cast<long double>(x.view().at<double>(source, f));
          sum += d * d;
        }
        const long double expected = std::sqrt(sum);
        EXPECT_NEAR(static_cast<double>(out.view().at<double>(i, f) / scale),
                    static_cast<double>(expected / scale), 40 * 0x1p-53)
            << scale << " at " << i << ',' << f;
      }
    }
  }
}

}  // namespace
}  // namespace assay::semiring
