// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/cp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "einsum/einsum.h"
#include "einsum/testing/example_tensors.h"

namespace assay::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Cp, RankOneEqualsTheTuckerOfRankOne) {
  const auto d = cp(hilbert(20).view(), {.rank = 1, .change = 1e-14});
  EXPECT_NEAR(d.relative_error, 2.6362456050e-1, 1e-9);
  EXPECT_EQ(d.stop, CpStop::kChange);
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

TEST(Cp, SaysWhatItCannotDo) {
  const auto x = hilbert(3);
  const Tensor complex(DType::kC64, Shape({2, 2}));
  EXPECT_THAT([&] { cp(complex.view(), {}); }, ThrowsMessage<UserError>(HasSubstr("c64")));
  EXPECT_THAT([&] { cp(x.view(), {.rank = 0}); }, ThrowsMessage<UserError>(HasSubstr("not 0")));
  Tensor bad = hilbert(3);
  bad.as<double>()[5] = std::nan("");
  EXPECT_THAT([&] { cp(bad.view(), {}); }, ThrowsMessage<UserError>(HasSubstr("NaN")));
}

}  // namespace
}  // namespace assay::einsum
