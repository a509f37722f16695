// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/ell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/targets.h"
#include "kernels/test_instruction_sets.h"
#include "semiring/ell.h"
#include "semiring/ref/reference.h"
#include "semiring/test_tensors.h"

namespace assay::semiring {
namespace {

class EllOnInstructionSet : public kernels::OnInstructionSet {};
ASSAY_ON_INSTRUCTION_SETS(EllOnInstructionSet);

// Every entry within `tolerance(reference value)`; NaN and infinities the same.
template <class Tolerance>
void expect_close(const TensorView& actual, const TensorView& expected, const std::string& what,
                  const Tolerance& tolerance) {
  ASSERT_EQ(actual.shape(), expected.shape());
  int failures = 0;
  for (std::int64_t i = 0; i < actual.element_count() && failures < 3; ++i) {
    const double x = value_as_double(actual, i), y = value_as_double(expected, i);
    if (std::isnan(y) ? std::isnan(x) : x == y) continue;
    if (std::isfinite(y) && std::abs(x - y) <= tolerance(y)) continue;
    ADD_FAILURE() << what << " entry " << i << ": " << x << " instead of " << y;
    ++failures;
  }
}

double edge_roundoff(DType dtype) { return dtype == DType::kF64 ? 2 * 0x1p-53 : 0x1p-24; }

TEST_P(EllOnInstructionSet, MatmulAgreesInEveryAlgebra) {
  // Features around every length of a vector and of a tile of vectors.
  for (const int features : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 257}) {
    for (const auto& [rows, slots, sources] : {std::tuple{1, 1, 1}, {29, 5, 11}, {130, 16, 70}}) {
      const Tensor idx = random_indices(rows, slots, sources, 4);
      for (const Algebra algebra : kAllAlgebras) {
        for (const DType dtype : dtypes_of(algebra)) {
          if (features > 40 && dtype != dtypes_of(algebra).front()) continue;
          const Tensor v = random_tensor(dtype, Shape{rows, slots}, 1);
          const Tensor x = random_tensor(dtype, Shape{sources, features}, 2);
          Tensor out(working_dtype(dtype), Shape{rows, features});
          ell_matmul(algebra, v.view(), idx.view(), x.view(), out.mutable_view(),
                     {.backend = Backend::kSimd, .simd = {.threads = 2}});
          const Tensor expected =
              reference_ell_matmul(algebra, ell_problem(algebra, v.view(), idx.view(), x.view()));
          // Terms below 12 in size, up to `slots` of them: each is rounded three times at most and
          // added once; log adds the roundings of exp, log and the sums around them.
          const double u = edge_roundoff(dtype);
          const double bound = algebra == Algebra::kBoolean ? 0
                               : algebra == Algebra::kReal  ? 3 * (slots + 1) * slots * u
                                                            : (slots + 16.0) * 4 * u;
          expect_close(out.view(), expected.view(),
                       std::string(name_of(algebra)) + ' ' + std::string(name_of(dtype)) + ' ' +
                           std::to_string(features) + " features",
                       [&](double y) { return bound * std::max(1.0, std::abs(y)); });
        }
      }
    }
  }
}

// One in `rarity` elements is special.
template <typename T>
void sprinkle(Tensor& tensor, std::uint64_t seed, std::uint64_t rarity) {
  using Limits = std::numeric_limits<T>;
  const T specials[] = {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), T{0}};
  const Philox stream(seed, stream_key("specials"));
  for (std::size_t i = 0; i < tensor.as<T>().size(); ++i) {
    if (stream[i] % rarity == 0) tensor.as<T>()[i] = specials[(stream[i] >> 32) % 4];
  }
}

TEST_P(EllOnInstructionSet, NanAndInfinitiesAsInTheReference) {
  for (const std::uint64_t rarity : {3, 11, 101}) {
    for (const int features : {3, 16, 70}) {
      const Tensor idx = random_indices(57, 6, 23, 4);
      Tensor v = random_tensor(DType::kF32, {57, 6}, 1);
      Tensor x = random_tensor(DType::kF32, Shape{23, features}, 2);
      Tensor w = random_tensor(DType::kF32, Shape{9, features}, 3);
      sprinkle<float>(v, 1, rarity);
      sprinkle<float>(x, 2, rarity);
      for (const Algebra algebra : kAllAlgebras) {
        if (algebra == Algebra::kBoolean) continue;
        Tensor out(DType::kF32, Shape{57, features});
        ell_matmul(algebra, v.view(), idx.view(), x.view(), out.mutable_view(), {Backend::kSimd});
        const Tensor expected =
            reference_ell_matmul(algebra, ell_problem(algebra, v.view(), idx.view(), x.view()));
        expect_close(out.view(), expected.view(), std::string(name_of(algebra)),
                     [](double y) { return 300 * 0x1p-24 * std::max(1.0, std::abs(y)); });
      }
      for (const bool special_w : {false, true}) {
        if (special_w) sprinkle<float>(w, 3, 29);
        for (const EdgeReduce reduce : {EdgeReduce::kSum, EdgeReduce::kMax}) {
          for (const TensorView& weights : {w.view(), w.view().slice(0, 0, 2)}) {
            Tensor out(DType::kF32, Shape{57, weights.extent(0)});
            ell_edge_aggregate(reduce, v.view(), idx.view(), x.view(), weights, out.mutable_view(),
                               {Backend::kSimd});
            const Tensor expected = reference_ell_edge_aggregate(
                edge_problem(reduce, v.view(), idx.view(), x.view(), weights));
            expect_close(out.view(), expected.view(), std::string(name_of(reduce)), [&](double y) {
              return 40.0 * features * 0x1p-24 * std::max(10.0, std::abs(y));
            });
          }
        }
      }
    }
  }
}

TEST_P(EllOnInstructionSet, EdgesAgreeAtAwkwardSizes) {
  for (const auto& [rows, slots, sources, features, outputs] : {std::tuple{1, 1, 1, 1, 1},
                                                                {5, 3, 4, 2, 7},
                                                                {241, 4, 37, 8, 8},
                                                                {100, 16, 61, 64, 64},
                                                                {97, 7, 50, 33, 17},
                                                                {60, 9, 300, 5, 70},
                                                                {26, 2, 13, 130, 31}}) {
    const Tensor idx = random_indices(rows, slots, sources, 4);
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
      const Tensor v = random_tensor(dtype, Shape{rows, slots}, 1);
      const Tensor x = random_tensor(dtype, Shape{sources, features}, 2);
      const Tensor w = random_tensor(dtype, Shape{outputs, features}, 3);
      for (const EdgeReduce reduce : {EdgeReduce::kSum, EdgeReduce::kMax}) {
        const Tensor expected = reference_ell_edge_aggregate(
            edge_problem(reduce, v.view(), idx.view(), x.view(), w.view()));
        Tensor first(working_dtype(dtype), Shape{rows, outputs});
        for (const int threads : {1, 3}) {
          Tensor out(working_dtype(dtype), Shape{rows, outputs});
          ell_edge_aggregate(reduce, v.view(), idx.view(), x.view(), w.view(), out.mutable_view(),
                             {.backend = Backend::kSimd, .simd = {.threads = threads}});
          // Terms v·w·x below 3√3, features · slots of them, each in one of that many sums.
          const double u = edge_roundoff(dtype), count = static_cast<double>(features * slots);
          const double bound = 5.2 * count * (features + slots + 2.0) * u;
          expect_close(out.view(), expected.view(),
                       std::string(name_of(reduce)) + ' ' + std::string(name_of(dtype)),
                       [&](double) { return bound; });
          if (threads == 1) first = Tensor::copy(out.view());
          EXPECT_TRUE(bitwise_equal(out.view(), first.view()));
        }
      }
    }
  }
}

TEST(SimdEll, UnevenDegreesAreSharedByEdges) {
  // All edges in the last rows: every thread must get some, and the result must not change.
  const std::int64_t rows = 3000, slots = 40, sources = 500, features = 24;
  Tensor idx = random_indices(rows, slots, sources, 4);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t p = 0; p < slots; ++p) {
      if (i < 2700 && p > 0) idx.mutable_view().at<std::int32_t>(i, p) = -1;
    }
  }
  const Tensor v = random_tensor(DType::kF32, Shape{rows, slots}, 1);
  const Tensor x = random_tensor(DType::kF32, Shape{sources, features}, 2);
  const Tensor w = random_tensor(DType::kF32, Shape{features, features}, 3);
  for (const EdgeReduce reduce : {EdgeReduce::kSum, EdgeReduce::kMax}) {
    Tensor one(DType::kF32, Shape{rows, features}), many(DType::kF32, Shape{rows, features});
    ell_edge_aggregate(reduce, v.view(), idx.view(), x.view(), w.view(), one.mutable_view(),
                       {Backend::kSimd});
    ell_edge_aggregate(reduce, v.view(), idx.view(), x.view(), w.view(), many.mutable_view(),
                       {.backend = Backend::kSimd, .simd = {.threads = 7}});
    EXPECT_TRUE(bitwise_equal(one.view(), many.view()));
  }
}

TEST(SimdEll, StridedInputsAndOutputs) {
  const Tensor idx = random_indices(50, 6, 20, 4), v = random_tensor(DType::kF32, {50, 6}, 1);
  const Tensor x = random_tensor(DType::kF32, {20, 18}, 2),
               w = random_tensor(DType::kF32, {18, 18}, 3);
  const Scattered si(idx.view()), sv(v.view()), sx(x.view()), sw(w.view());
  for (const EdgeReduce reduce : {EdgeReduce::kSum, EdgeReduce::kMax}) {
    Tensor plain(DType::kF32, {50, 18}), transposed(DType::kF32, {18, 50});
    ell_edge_aggregate(reduce, v.view(), idx.view(), x.view(), w.view(), plain.mutable_view(),
                       {Backend::kSimd});
    ell_edge_aggregate(reduce, sv.view(), si.view(), sx.view(), sw.view(),
                       transposed.mutable_view().transpose(), {Backend::kSimd});
    EXPECT_TRUE(bitwise_equal(plain.view(), transposed.view().transpose()));
  }
}

}  // namespace
}  // namespace assay::semiring
