// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "einsum/decompose/cp.h"
#include "einsum/decompose/tensor_train.h"
#include "einsum/decompose/tucker.h"
#include "einsum/einsum.h"
#include "tensor/fill.h"

namespace assay::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// X_ijk = 1/(i + j + k + 1).
Tensor hilbert(std::int64_t n) {
  Tensor x(DType::kF64, Shape({n, n, n}));
  for (std::int64_t i = 0; i < n * n * n; ++i) {
    x.as<double>()[static_cast<std::size_t>(i)] =
        1.0 / static_cast<double>(i / (n * n) + i / n % n + i % n + 1);
  }
  return x;
}

double error_between(const Tensor& x, const Tensor& y) {
  double error = 0, size = 0;
  for (std::int64_t i = 0; i < x.element_count(); ++i) {
    const double a = value_as_double(x.view(), i), b = value_as_double(y.view(), i);
    error += (a - b) * (a - b);
    size += a * a;
  }
  return std::sqrt(error / size);
}

struct DecompositionRow {
  std::int64_t n, rank;
  double hosvd, sthosvd, hooi, train;
};

TEST(Tucker, EqualsTheKnownErrors) {
  // Eleven digits are known; the errors themselves are 1 − ‖G‖²/‖X‖² and lose up to six of sixteen.
  for (const auto& row :
       {DecompositionRow{8, 2, 3.1201645797e-2, 3.1198613116e-2, 3.1196238715e-2, 2.7986648192e-2},
        DecompositionRow{8, 3, 2.6444336659e-3, 2.6443084230e-3, 2.6442134513e-3, 2.2514916941e-3},
        DecompositionRow{20, 1, 2.6449942742e-1, 2.6400539466e-1, 2.6362456050e-1,
                         2.6400539466e-1}}) {
    const auto x = hilbert(row.n);
    TuckerOptions o{.ranks = {row.rank, row.rank, row.rank}};
    const auto error = [&](TuckerMethod method) {
      o.method = method;
      const auto d = tucker(x.view(), o);
      EXPECT_NEAR(d.relative_error, error_between(x, tucker_reconstruct(d)), 1e-10);
      return d.relative_error;
    };
    EXPECT_NEAR(error(TuckerMethod::kHosvd), row.hosvd, 1e-9 * row.hosvd);
    EXPECT_NEAR(error(TuckerMethod::kStHosvd), row.sthosvd, 1e-9 * row.sthosvd);
    EXPECT_NEAR(error(TuckerMethod::kHooi), row.hooi, 1e-9 * row.hooi);
    const auto train = tensor_train(x.view(), {.ranks = {row.rank, row.rank}});
    EXPECT_NEAR(train.relative_error, row.train, 1e-9 * row.train);
    EXPECT_NEAR(error_between(x, train_reconstruct(train.cores)), row.train, 1e-9 * row.train);
  }
}

TEST(Cp, RankOneEqualsTheTuckerOfRankOne) {
  const auto d = cp(hilbert(20).view(), {.rank = 1, .change = 1e-14});
  EXPECT_NEAR(d.relative_error, 2.6362456050e-1, 1e-9);
  EXPECT_EQ(d.stop, CpStop::kChange);
}

// hilbert(8) + 0.05·noise, times `scale`, in f32 or f64.
Tensor scaled_tensor(DType dtype, double scale) {
  Tensor x = hilbert(8);
  Tensor noise(DType::kF64, x.shape());
  fill_uniform(noise.mutable_view(), Philox(21), -0.05, 0.05);
  for (std::size_t i = 0; i < x.as<double>().size(); ++i) {
    x.as<double>()[i] = scale * (x.as<double>()[i] + noise.as<double>()[i]);
  }
  return Tensor::converted(x.view(), dtype);
}

// error_between() whatever the size of the elements.
double scaled_error(const Tensor& x, const Tensor& y) {
  double largest = 0;
  for (std::int64_t i = 0; i < x.element_count(); ++i) {
    largest = std::max(largest, std::abs(value_as_double(x.view(), i)));
  }
  double error = 0, size = 0;
  for (std::int64_t i = 0; i < x.element_count(); ++i) {
    const double a = value_as_double(x.view(), i) / largest,
                 b = value_as_double(y.view(), i) / largest;
    error += (a - b) * (a - b);
    size += a * a;
  }
  return std::sqrt(error / size);
}

TEST(Decompositions, SayTheTrueErrorAtEveryScale) {
  struct Scale {
    DType dtype;
    double scale;
    double digits;  // what rounding of elements alone makes of the error
  };
  // Elements of subnormal tensors are multiples of 2^−1074 and 2^−149: 1e-310 and 1e-41 leave
  // some 40 and 13 bits of them.
  for (const auto& s : {Scale{DType::kF64, 1, 1e-9}, Scale{DType::kF64, 1e-170, 1e-9},
                        Scale{DType::kF64, 1e153, 1e-9}, Scale{DType::kF64, 1e170, 1e-9},
                        Scale{DType::kF64, 1e300, 1e-9}, Scale{DType::kF64, 1e-310, 1e-9},
                        Scale{DType::kF32, 1, 1e-4}, Scale{DType::kF32, 1e-25, 1e-4},
                        Scale{DType::kF32, 1e19, 1e-4}, Scale{DType::kF32, 1e25, 1e-4},
                        Scale{DType::kF32, 1e-41, 5e-3}}) {
    const auto x = scaled_tensor(s.dtype, s.scale), unit = scaled_tensor(s.dtype, 1);
    const auto where = fmt::format("{} times {}", name_of(s.dtype), s.scale);
    const auto c = cp(x.view(), {.rank = 2, .change = 1e-7});
    EXPECT_NEAR(c.relative_error, scaled_error(x, cp_reconstruct(c)), s.digits) << where;
    EXPECT_NEAR(c.relative_error, cp(unit.view(), {.rank = 2, .change = 1e-7}).relative_error,
                10 * s.digits)
        << where;
    for (const auto finder : {RangeFinder::kGram, RangeFinder::kSvd, RangeFinder::kRandomized}) {
      const TuckerOptions o{.ranks = {3, 3, 3}, .finder = finder};
      const auto t = tucker(x.view(), o);
      EXPECT_NEAR(t.relative_error, scaled_error(x, tucker_reconstruct(t)), s.digits) << where;
      EXPECT_NEAR(t.relative_error, tucker(unit.view(), o).relative_error, 10 * s.digits) << where;
    }
    const auto train = tensor_train(x.view(), {.ranks = {3, 3}});
    EXPECT_NEAR(train.relative_error, scaled_error(x, train_reconstruct(train.cores)), s.digits)
        << where;
    EXPECT_NEAR(train.relative_error, tensor_train(unit.view(), {.ranks = {3, 3}}).relative_error,
                10 * s.digits)
        << where;
    const auto smaller = round_train(train.cores, {.ranks = {1, 1}});
    EXPECT_NEAR(
        scaled_error(x, train_reconstruct(smaller.cores)),
        scaled_error(unit, train_reconstruct(tensor_train(unit.view(), {.ranks = {1, 1}}).cores)),
        1e-2)
        << where;
  }
}

TEST(Decompositions, APowerOfTwoChangesNoDigit) {
  const auto unit = scaled_tensor(DType::kF64, 1);
  const CpOptions o{.rank = 3, .max_sweeps = 30};
  const auto expected = cp(unit.view(), o);
  const auto core = tucker(unit.view(), {.ranks = {3, 3, 3}});
  for (const int exponent : {-900, -300, 300, 900}) {
    const auto x = scaled_tensor(DType::kF64, std::ldexp(1.0, exponent));
    const auto c = cp(x.view(), o);
    EXPECT_EQ(c.trace, expected.trace) << exponent;
    EXPECT_EQ(c.weights.as<double>()[0], std::ldexp(expected.weights.as<double>()[0], exponent));
    EXPECT_EQ(error_between(expected.factors[1], c.factors[1]), 0);
    const auto t = tucker(x.view(), {.ranks = {3, 3, 3}});
    EXPECT_EQ(t.relative_error, core.relative_error);
    EXPECT_EQ(t.core.as<double>()[5], std::ldexp(core.core.as<double>()[5], exponent));
  }
}

TEST(Decompositions, RefuseAResultBeyondTheRange) {
  // Every element is the largest float: the norm, which the weight is, has no float.
  Tensor x(DType::kF32, Shape({4, 4, 4}));
  std::ranges::fill(x.as<float>(), std::numeric_limits<float>::max());
  EXPECT_THAT([&] { cp(x.view(), {}); },
              ThrowsMessage<UserError>(HasSubstr("cp: the result has elements beyond the range")));
}

TEST(Tucker, RangeFindersAgree) {
  const auto x = hilbert(12);
  for (const auto finder : {RangeFinder::kGram, RangeFinder::kSvd, RangeFinder::kRandomized}) {
    const auto d =
        tucker(x.view(), {.method = TuckerMethod::kStHosvd, .ranks = {4, 4, 4}, .finder = finder});
    const auto exact =
        tucker(x.view(),
               {.method = TuckerMethod::kStHosvd, .ranks = {4, 4, 4}, .finder = RangeFinder::kSvd});
    EXPECT_NEAR(d.relative_error, exact.relative_error, 1e-3 * exact.relative_error);
  }
}

TEST(Tucker, RanksAboveTheOtherExtents) {
  // Mode 0 has rank 5, but its unfolding has two columns, and in HOOI the core's rest has one.
  Tensor x(DType::kF64, Shape({7, 2, 1}));
  fill_uniform(x.mutable_view(), Philox(4), -1, 1);
  for (const auto finder : {RangeFinder::kGram, RangeFinder::kSvd, RangeFinder::kRandomized}) {
    for (const auto method : {TuckerMethod::kHosvd, TuckerMethod::kStHosvd, TuckerMethod::kHooi}) {
      const auto full = tucker(x.view(), {.method = method, .ranks = {5, 2, 1}, .finder = finder});
      EXPECT_LT(error_between(x, tucker_reconstruct(full)), 1e-12);
      const auto cut = tucker(x.view(), {.method = method, .ranks = {5, 1, 1}, .finder = finder});
      EXPECT_NEAR(error_between(x, tucker_reconstruct(cut)), cut.relative_error, 1e-12);
      const auto u = cut.factors[0].view();
      for (std::int64_t a = 0; a < 5; ++a) {  // orthonormal, to rounding
        for (std::int64_t b = 0; b < 5; ++b) {
          double product = 0;
          for (std::int64_t i = 0; i < 7; ++i) product += u.at<double>(i, a) * u.at<double>(i, b);
          EXPECT_NEAR(product, a == b ? 1 : 0, 1e-13);
        }
      }
    }
  }
}

TEST(Tucker, KeepsToItsTolerance) {
  const auto x = hilbert(16);
  for (const double tolerance : {1e-1, 1e-3, 1e-6, 1e-7, 2e-8, 1e-10}) {
    const auto d = tucker(x.view(), {.tolerance = tolerance});
    EXPECT_LE(error_between(x, tucker_reconstruct(d)), tolerance * (1 + 1e-6)) << tolerance;
    const auto train = tensor_train(x.view(), {.tolerance = tolerance});
    EXPECT_LE(error_between(x, train_reconstruct(train.cores)), tolerance * (1 + 1e-6))
        << tolerance;
  }
}

TEST(TensorTrain, RoundingEqualsDecomposingAnew) {
  const auto x = hilbert(9);
  const auto exact = tensor_train(x.view(), {.tolerance = 1e-14});
  const auto rounded = round_train(exact.cores, {.ranks = {3, 3}});
  const auto direct = tensor_train(x.view(), {.ranks = {3, 3}});
  EXPECT_NEAR(rounded.relative_error, direct.relative_error, 1e-9);
  EXPECT_NEAR(error_between(x, train_reconstruct(rounded.cores)), direct.relative_error, 1e-9);
}

TEST(TensorTrain, OneModeAndOneElement) {
  Tensor v(DType::kF32, Shape({5}));
  fill_uniform(v.mutable_view(), Philox(3), -1, 1);
  const auto d = tensor_train(v.view(), {.tolerance = 0});
  ASSERT_EQ(d.cores.size(), 1u);
  EXPECT_LT(error_between(v, train_reconstruct(d.cores)), 1e-7);
}

Tensor from_components(const std::vector<std::vector<double>>& a, std::int64_t n) {
  // Σ over triples of vectors.
  Tensor x(DType::kF64, Shape({n, n, n}));
  for (std::size_t t = 0; t + 2 < a.size(); t += 3) {
    for (std::int64_t i = 0; i < n * n * n; ++i) {
      x.as<double>()[static_cast<std::size_t>(i)] += a[t][static_cast<std::size_t>(i / (n * n))] *
                                                     a[t + 1][static_cast<std::size_t>(i / n % n)] *
                                                     a[t + 2][static_cast<std::size_t>(i % n)];
    }
  }
  return x;
}

TEST(Cp, MultipliesTwoByTwoMatricesWithSevenProducts) {
  // x_{(ij)(jk)(ki)} = 1: rank 7 (Strassen), so the fit gets to 1.
  Tensor x(DType::kF64, Shape({4, 4, 4}));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 2; ++k) x.mutable_view().at<double>(2 * i + j, 2 * j + k, 2 * k + i) = 1;
    }
  }
  const auto d = cp(x.view(), {.rank = 7,
                               .max_sweeps = 2000,
                               .change = 1e-12,
                               .target_fit = 1 - 1e-6,
                               .init = CpInit::kRandom,
                               .restarts = 30});
  EXPECT_GT(d.fit, 1 - 1e-5);
  EXPECT_NEAR(error_between(x, cp_reconstruct(d)), d.relative_error, 1e-8);
}

TEST(Cp, ReportsThatTheWTensorHasNoBestApproximation) {
  const std::vector<double> a = {1, 0}, b = {0, 1};
  const auto x = from_components({a, a, b, a, b, a, b, a, a}, 2);
  const auto d =
      cp(x.view(), {.rank = 2, .max_sweeps = 3000, .change = 0, .init = CpInit::kRandom});
  EXPECT_TRUE(d.degenerate) << d.congruence;
  EXPECT_LT(d.congruence, -0.9);
  EXPECT_GT(d.fit, 0.9);
  EXPECT_EQ(d.stop, CpStop::kSweeps);
  EXPECT_FALSE(cp(x.view(), {.rank = 3, .init = CpInit::kRandom, .seed = 1}).degenerate);
}

TEST(Cp, WhatHasMerelyNotConvergedIsNotDegenerate) {
  // Three components of cosine 0.9 in each mode, and one more than needed: on the way two of them
  // nearly cancel, with weights above the tensor's norm, and part again.
  const std::int64_t n = 8, rank = 3;
  std::vector<std::vector<double>> vectors;
  for (int mode = 0; mode < 3; ++mode) {
    for (std::int64_t r = 0; r < rank; ++r) {
      // √0.9·e_0 + √0.1·e_{1+r}: unit vectors of mutual cosine 0.9.
      std::vector<double> v(static_cast<std::size_t>(n), 0.0);
      v[0] = std::sqrt(0.9);
      v[static_cast<std::size_t>(1 + r + mode)] = std::sqrt(0.1);
      vectors.push_back(v);
    }
  }
  std::vector<std::vector<double>> components;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t mode = 0; mode < 3; ++mode) components.push_back(vectors[3 * mode + r]);
  }
  const auto x = from_components(components, n);
  bool cancelled = false;
  for (const std::uint64_t seed : {5, 8}) {
    for (const int sweeps : {5, 10, 30, 100, 200}) {
      const auto d =
          cp(x.view(),
             {.rank = 4, .max_sweeps = sweeps, .change = 0, .init = CpInit::kRandom, .seed = seed});
      cancelled |= d.congruence < -0.98;
      EXPECT_FALSE(d.degenerate) << "seed " << seed << ", " << sweeps << " sweeps";
    }
  }
  EXPECT_TRUE(cancelled) << "the test is about components that cancel for a while";
}

TEST(Cp, LeavesTheSaddleOfTheWTensor) {
  // The default start has components a∘a∘a and b∘b∘b, where every update stands still at an error
  // of √(2/3).
  const std::vector<double> a = {1, 0}, b = {0, 1};
  const auto x = from_components({a, a, b, a, b, a, b, a, a}, 2);
  const auto d = cp(x.view(), {.rank = 2});
  EXPECT_LT(d.relative_error, 0.2);
  EXPECT_TRUE(d.degenerate) << d.congruence;
  EXPECT_EQ(d.stop, CpStop::kSweeps) << "there is no best approximation to converge to";
  EXPECT_EQ(d.trace.size(), static_cast<std::size_t>(d.sweeps));
  // With no sweep left to tell a saddle from a minimum, it does not say that it converged.
  EXPECT_EQ(cp(x.view(), {.rank = 2, .max_sweeps = 4}).stop, CpStop::kSweeps);
}

TEST(Cp, ComesBackToAMinimum) {
  const auto x = scaled_tensor(DType::kF64, 1);
  const auto d = cp(x.view(), {.rank = 2, .max_sweeps = 2000});
  EXPECT_EQ(d.stop, CpStop::kChange);
  EXPECT_NEAR(error_between(x, cp_reconstruct(d)), d.relative_error, 1e-12);
  EXPECT_EQ(d.trace.size(), static_cast<std::size_t>(d.sweeps));
}

TEST(Cp, FindsCollinearFactors) {
  // Three components whose vectors have cosine 0.9 in each mode.
  const std::int64_t n = 10;
  std::vector<std::vector<double>> vectors;
  for (int t = 0; t < 9; ++t) {
    std::vector<double> v(static_cast<std::size_t>(n), 0.0);
    v[0] = std::sqrt(0.9);
    v[static_cast<std::size_t>(1 + t / 3)] = std::sqrt(0.1);
    vectors.push_back(v);
  }
  const auto x = from_components(vectors, n);
  const auto d =
      cp(x.view(),
         {.rank = 3, .max_sweeps = 5000, .change = 1e-14, .target_fit = 1 - 1e-8, .restarts = 3});
  EXPECT_GT(d.fit, 1 - 1e-6);
}

TEST(Cp, ZeroTensorAndRankAboveTheExtents) {
  const Tensor zero(DType::kF64, Shape({3, 4, 5}));
  const auto none = cp(zero.view(), {.rank = 2});
  EXPECT_EQ(none.fit, 1);
  EXPECT_EQ(none.stop, CpStop::kTargetFit);
  Tensor x(DType::kF64, Shape({2, 3, 4}));
  fill_uniform(x.mutable_view(), Philox(9), -1, 1);
  const auto d = cp(x.view(), {.rank = 7, .max_sweeps = 500, .target_fit = 1 - 1e-6});
  EXPECT_GT(d.fit, 1 - 1e-4);
}

TEST(Cp, FitNearOneIsExactWhereAskedFor) {
  // An exact tensor of rank 2: the true error falls to rounding, below what the formula sees.
  const std::vector<double> a = {1, 2, 3}, b = {1, 0, -1}, c = {2, 1, 1}, d = {0, 1, -2};
  const auto x = from_components({a, b, c, d, c, a}, 3);
  CpOptions o{.rank = 2, .max_sweeps = 60, .change = -1, .target_fit = 2};
  const auto exact = cp(x.view(), o);
  EXPECT_NEAR(error_between(x, cp_reconstruct(exact)), exact.relative_error, 1e-15);
  o.exact_fit = false;
  const auto cheap = cp(x.view(), o);
  // (‖X‖² + ‖X̂‖² − 2⟨X, X̂⟩)/‖X‖² cancels to a few ε: its root is the bound.
  EXPECT_NEAR(cheap.relative_error, exact.relative_error, 1e-7);
  ASSERT_EQ(cheap.trace.size(), exact.trace.size());
  for (std::size_t m = 0; m < 3; ++m) {
    EXPECT_EQ(error_between(cheap.factors[m], exact.factors[m]), 0);
  }
}

TEST(Cp, FourModesInF32AndNonnegative) {
  Engine engine;
  std::vector<Tensor> u;
  for (int m = 0; m < 4; ++m) {
    u.emplace_back(DType::kF32, Shape({5 + m, 3}));
    fill_uniform(u.back().mutable_view(), Philox(17, static_cast<std::uint64_t>(m)), 0, 1);
  }
  const auto x =
      engine.einsum("ar,br,cr,dr->abcd", {u[0].view(), u[1].view(), u[2].view(), u[3].view()});
  const auto d = cp(x.view(), {.rank = 3, .max_sweeps = 2000, .nonnegative = true});
  EXPECT_EQ(d.weights.dtype(), DType::kF32);
  EXPECT_GT(d.fit, 0.99);
  for (const auto& f : d.factors) {
    for (const float v : f.as<float>()) EXPECT_GE(v, 0);
  }
  const auto free = cp(x.view(), {.rank = 3, .max_sweeps = 2000});
  EXPECT_GT(free.fit, 0.999);
  EXPECT_NEAR(error_between(x, cp_reconstruct(free)), free.relative_error, 1e-4);
}

TEST(Decompositions, SayWhatTheyCannotDo) {
  const auto x = hilbert(3);
  const Tensor complex(DType::kC64, Shape({2, 2}));
  EXPECT_THAT([&] { cp(complex.view(), {}); }, ThrowsMessage<UserError>(HasSubstr("c64")));
  EXPECT_THAT([&] { cp(x.view(), {.rank = 0}); }, ThrowsMessage<UserError>(HasSubstr("not 0")));
  EXPECT_THAT([&] { tucker(x.view(), {}); }, ThrowsMessage<UserError>(HasSubstr("neither")));
  EXPECT_THAT(
      [&] {
        tucker(x.view(), {.ranks = {2, 2}});
      },
      ThrowsMessage<UserError>(HasSubstr("2 ranks for a tensor of 3 modes")));
  EXPECT_THAT(
      [&] {
        tucker(x.view(), {.ranks = {2, 4, 2}});
      },
      ThrowsMessage<UserError>(HasSubstr("mode 1 is from 1 to its extent 3, not 4")));
  EXPECT_THAT([&] { tensor_train(x.view(), {.ranks = {2}}); },
              ThrowsMessage<UserError>(HasSubstr("1 ranks for 3 modes")));
  Tensor bad = hilbert(3);
  bad.as<double>()[5] = std::nan("");
  EXPECT_THAT([&] { cp(bad.view(), {}); }, ThrowsMessage<UserError>(HasSubstr("NaN")));
}

}  // namespace
}  // namespace assay::einsum
