// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Inputs for which none, some and all entries of log and euclidean need the exact path.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/test_instruction_sets.h"
#include "semiring/matmul.h"
#include "semiring/ref/reference.h"
#include "semiring/test_tensors.h"

namespace assay::semiring {
namespace {

class Certificate : public kernels::OnInstructionSet {
 protected:
  // Multiplies, compares every entry with the reference, and returns how many were recomputed.
  // `terms`: the bound's part for the exact path, 8u·|a + b|.
  std::int64_t recomputed(Algebra algebra, const Tensor& a, const Tensor& b, double terms = 0) {
    Tensor out(a.dtype(), matmul_problem(algebra, a.view(), b.view()).out_shape());
    const MatmulStats stats = matmul(algebra, a.view(), b.view(), out.mutable_view(),
                                     {.backend = Backend::kSimd, .simd = {.threads = 2}});
    const Tensor reference = reference_matmul(matmul_problem(algebra, a.view(), b.view()));
    const bool wide = a.dtype() == DType::kF64;
    const double u = wide ? 0x1p-53 : 0x1p-24, k = static_cast<double>(a.shape()[1]);
    // In f64 the reference rounds k times itself.
    const double sum = u * (8 * std::sqrt(k) + 16 + (wide ? k : 0));
    for (std::int64_t i = 0; i < out.element_count(); ++i) {
      const double expected = value_as_double(reference.view(), i);
      const double actual = value_as_double(out.view(), i);
      if (actual == expected) continue;
      const double bound = algebra == Algebra::kLog
                               ? sum + 8 * u * terms + 4 * u * std::abs(expected)
                               : sum * expected + 0x1p-149;
      EXPECT_LE(std::abs(actual - expected), bound)
          << name_of(algebra) << ' ' << name_of(a.dtype()) << " entry " << i << ": " << actual
          << " instead of " << expected;
    }
    EXPECT_EQ(stats.entries, out.element_count());
    EXPECT_NEAR(stats.recomputed_share() * static_cast<double>(stats.entries),
                static_cast<double>(stats.recomputed), 1e-6);
    return stats.recomputed;
  }
};
ASSAY_ON_INSTRUCTION_SETS(Certificate);

void set(Tensor& t, std::int64_t i, std::int64_t j, double value) {
  if (t.dtype() == DType::kF32) {
    t.mutable_view().at<float>(i, j) = static_cast<float>(value);
  } else {
    t.mutable_view().at<double>(i, j) = value;
  }
}
double get(const Tensor& t, std::int64_t i, std::int64_t j) {
  return value_as_double(t.view(), i * t.shape()[1] + j);
}

TEST_P(Certificate, LogNeedsNoTermsForOrdinaryInputs) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const std::int64_t k : {1, 2, 16, 150, 600}) {
      const Tensor a = random_tensor(dtype, Shape{26, k}, 1),
                   b = random_tensor(dtype, Shape{k, 35}, 2);
      // The strict bound: nothing for the exact path.
      EXPECT_EQ(recomputed(Algebra::kLog, a, b), 0) << k;
    }
  }
}

TEST_P(Certificate, LogRecomputesWhereTheMaximaDoNotMeet) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const double far = dtype == DType::kF32 ? 150 : 1500;
    Tensor a = random_tensor(dtype, {27, 40}, 1), b = random_tensor(dtype, {40, 70}, 2);
    // In four rows and three columns the largest elements meet small ones: all terms are of
    // ordinary size, far below the product of the maxima.
    for (const std::int64_t i : {0, 5, 13, 26}) set(a, i, 7, far);
    for (std::int64_t j = 0; j < 70; ++j) set(b, 7, j, -far);
    EXPECT_EQ(recomputed(Algebra::kLog, a, b, 5), 4 * 70);
    for (const std::int64_t j : {1, 33, 69}) set(b, 21, j, far);
    for (std::int64_t i = 0; i < 27; ++i) set(a, i, 21, -far);
    // Rows and columns; where both meet the largest elements do too, in terms −far + far … no term
    // of an entry is above 5.
    EXPECT_EQ(recomputed(Algebra::kLog, a, b, 5), 4 * 70 + 3 * 27 - 4 * 3);
  }
}

TEST_P(Certificate, LogRecomputesEverythingOnOppositeSlopes) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const double slope = dtype == DType::kF32 ? 20 : 200;
    Tensor a = random_tensor(dtype, {13, 37}, 1), b = random_tensor(dtype, {37, 34}, 2);
    for (std::int64_t l = 0; l < 37; ++l) {
      for (std::int64_t i = 0; i < 13; ++i)
        set(a, i, l, get(a, i, l) + slope * static_cast<double>(l));
      for (std::int64_t j = 0; j < 34; ++j)
        set(b, l, j, get(b, l, j) - slope * static_cast<double>(l));
    }
    EXPECT_EQ(recomputed(Algebra::kLog, a, b, 5), 13 * 34);
  }
}

TEST_P(Certificate, LogAgreesAtEveryDistanceOfTheMaxima) {
  // From certain to refused: the terms move down nat by nat under the product of the maxima.
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const int last = dtype == DType::kF32 ? 120 : 800, step = dtype == DType::kF32 ? 3 : 19;
    std::int64_t before = 0;
    for (int far = 0; far <= last; far += step) {
      Tensor a = random_tensor(dtype, {12, 30}, 1), b = random_tensor(dtype, {30, 32}, 2);
      for (std::int64_t i = 0; i < 12; ++i) set(a, i, 3, far);
      for (std::int64_t j = 0; j < 32; ++j) set(b, 3, j, -far);
      const std::int64_t now = recomputed(Algebra::kLog, a, b, 5);
      EXPECT_GE(now, before);
      before = now;
    }
    EXPECT_EQ(before, 12 * 32);
  }
}

TEST_P(Certificate, LogSpreadOverTwoHundredNatsWithHoles) {
  Tensor a(DType::kF32, {31, 300}), b(DType::kF32, {300, 47});
  fill_uniform(a.mutable_view(), Philox(1), -50, 50);
  fill_uniform(b.mutable_view(), Philox(2), -50, 50);
  for (std::size_t i = 0; i < a.as<float>().size(); i += 19) a.as<float>()[i] = -INFINITY;
  for (std::size_t i = 0; i < b.as<float>().size(); i += 23) b.as<float>()[i] = -INFINITY;
  // The largest terms lie some nats under the maxima: no entry comes near the certificate's limit.
  EXPECT_EQ(recomputed(Algebra::kLog, a, b, 100), 0);
}

TEST_P(Certificate, LogOfManyTermsKeepsItsBound) {
  // All terms equal and positive: roundings of the sum have no reason to cancel.
  const std::int64_t k = 20'011;
  Tensor a(DType::kF32, Shape{2, k}), b(DType::kF32, Shape{k, 3});
  fill_uniform(a.mutable_view(), Philox(1), -0.1, -0.1);
  fill_uniform(b.mutable_view(), Philox(2), 0.3, 0.3);
  EXPECT_EQ(recomputed(Algebra::kLog, a, b), 0);
}

TEST_P(Certificate, EuclideanNeedsNoTermsForOrdinaryInputs) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const double offset : {0.0, 1000.0}) {  // the centre takes it away
      Tensor a(dtype, {26, 300}), b(dtype, {300, 35});
      fill_uniform(a.mutable_view(), Philox(1), offset - 1.7, offset + 1.7);
      fill_uniform(b.mutable_view(), Philox(2), offset - 1.7, offset + 1.7);
      EXPECT_EQ(recomputed(Algebra::kEuclidean, a, b), 0) << offset;
    }
  }
}

TEST_P(Certificate, EuclideanRecomputesNearDuplicates) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const double distance : {1e-3, 1e-7, 0.0}) {
      const Tensor a = random_tensor(dtype, {29, 130}, 1);
      Tensor b(dtype, {130, 41});
      const Philox noise(3);
      for (std::int64_t l = 0; l < 130; ++l) {
        for (std::int64_t j = 0; j < 41; ++j) {
          const auto raw = noise[static_cast<std::uint64_t>(l * 41 + j)];
          set(b, l, j, get(a, j % 29, l) + uniform(raw, -distance, distance));
        }
      }
      // Column j duplicates row j % 29, and row (j − 29) for the last twelve.
      EXPECT_EQ(recomputed(Algebra::kEuclidean, a, b), 41) << distance;
    }
  }
}

TEST_P(Certificate, EuclideanRecomputesEverythingOutsideTheRangeOfSquares) {
  // Squares of f32 overflow, or vanish; the reference computes them in f64, and so do we.
  for (const double scale : {1e25, 1e-30, 1e-38}) {
    Tensor a(DType::kF32, {13, 21}), b(DType::kF32, {21, 34});
    fill_uniform(a.mutable_view(), Philox(1), -scale, scale);
    fill_uniform(b.mutable_view(), Philox(2), -scale, scale);
    EXPECT_EQ(recomputed(Algebra::kEuclidean, a, b), 13 * 34) << scale;
  }
}

TEST_P(Certificate, EuclideanAgreesAtEveryDistance) {
  // Two clusters, from far apart to one inside the other.
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (double spread = 1e-6; spread < 10; spread *= 3) {
      Tensor a(dtype, {24, 100}), b(dtype, {100, 33});
      fill_uniform(a.mutable_view(), Philox(1), -spread, spread);
      fill_uniform(b.mutable_view(), Philox(2), -spread, spread);
      for (std::int64_t l = 0; l < 100; ++l) {
        for (std::int64_t i = 0; i < 24; i += 2) set(a, i, l, get(a, i, l) + 1);
        for (std::int64_t j = 0; j < 33; j += 2) set(b, l, j, get(b, l, j) + 1);
      }
      recomputed(Algebra::kEuclidean, a, b);
    }
  }
}

}  // namespace
}  // namespace assay::semiring
