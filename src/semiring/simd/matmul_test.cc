// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/targets.h"
#include "kernels/test_instruction_sets.h"
#include "semiring/matmul.h"
#include "semiring/ref/reference.h"
#include "semiring/test_tensors.h"
#include "tensor/roundoff.h"

namespace assay::semiring {
namespace {

using kernels::InstructionSet;

// Caches so small that every loop of the blocked product runs more than once.
constexpr kernels::CacheSizes kTinyCaches{.l1 = 6 << 10, .l2 = 24 << 10};

class MatmulOnInstructionSet : public kernels::OnInstructionSet {};
ASSAY_ON_INSTRUCTION_SETS(MatmulOnInstructionSet);

// How far an entry may lie from the reference (docs/methods/semiring.md). In f64 the reference errs
// too, by one rounding for each term.
double bound(Algebra algebra, DType dtype, const TensorView& a, const TensorView& b, std::int64_t i,
             std::int64_t j, double expected) {
  const std::int64_t k = a.extent(1);
  const double u = unit_roundoff(dtype), count = static_cast<double>(k);
  const double reference = dtype == DType::kF64 ? count * u : 0;
  double absolute = 0, largest = 0;
  for (std::int64_t l = 0; l < k; ++l) {
    const double x = value_as_double(a, i * k + l), y = value_as_double(b, l * b.extent(1) + j);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    absolute += std::abs(x * y);
    largest = std::max(largest, std::abs(x + y));
  }
  const double sum = u * (8 * std::sqrt(count) + 16);
  switch (algebra) {
    case Algebra::kReal:
      return 1.01 * (count + 1) * (dtype == DType::kF64 ? 2 * u : u) * absolute;
    case Algebra::kLog:
      return sum + reference + 8 * u * largest + 4 * u * std::abs(expected);
    case Algebra::kEuclidean:
      return (sum + reference) * expected + 0x1p-149;
    case Algebra::kMaxPlus:
    case Algebra::kMinPlus:
      return u * std::abs(expected);
    case Algebra::kBoolean:
      return 0;
  }
  return 0;
}

// Compares every entry with the reference; NaN and infinities must be the same.
void expect_close(Algebra algebra, const TensorView& a, const TensorView& b,
                  const TensorView& actual, const std::string& what) {
  const Tensor reference = reference_matmul(matmul_problem(algebra, a, b));
  ASSERT_EQ(actual.shape(), reference.shape());
  const std::int64_t n = actual.extent(1);
  int failures = 0;
  for (std::int64_t at = 0; at < actual.element_count() && failures < 3; ++at) {
    const double x = value_as_double(actual, at);
    double expected = value_as_double(reference.view(), at);
    if (actual.dtype() == DType::kF32 && std::isinf(static_cast<float>(expected))) {
      expected = static_cast<float>(expected);
    }
    const bool same = std::isnan(expected) ? std::isnan(x) : x == expected;
    if (same) continue;
    const double tolerance = bound(algebra, a.dtype(), a, b, at / n, at % n, expected);
    if (std::isfinite(expected) && std::abs(x - expected) <= tolerance) continue;
    ADD_FAILURE() << what << ' ' << name_of(algebra) << ' ' << name_of(a.dtype()) << " ("
                  << a.shape().to_string() << ")·(" << b.shape().to_string() << ") at " << at / n
                  << ',' << at % n << ": " << x << " instead of " << expected << ", off by "
                  << (x - expected) / tolerance << " times what is allowed";
    ++failures;
  }
}

// Multiplies into an output of the working dtype.
Tensor multiply(Algebra algebra, const TensorView& a, const TensorView& b,
                const SimdOptions& options = {}, MatmulStats* stats = nullptr) {
  Tensor out(working_dtype(a.dtype()), matmul_problem(algebra, a, b).out_shape());
  const MatmulStats done =
      matmul(algebra, a, b, out.mutable_view(), {.backend = Backend::kSimd, .simd = options});
  EXPECT_EQ(done.entries, out.element_count());
  if (stats != nullptr) *stats = done;
  return out;
}

TEST_P(MatmulOnInstructionSet, AgreesWithTheReferenceAtAwkwardSizes) {
  // Around one and two tiles of every instruction set (4, 6, 8, 12 rows; 2 to 32 columns), primes,
  // and sums of several blocks.
  const std::tuple<int, int, int> sizes[] = {
      {1, 1, 1},     {2, 3, 1},     {3, 1, 2},    {1, 7, 33},   {5, 64, 15},
      {6, 5, 16},    {7, 11, 17},   {11, 13, 31}, {12, 8, 32},  {13, 9, 33},
      {25, 129, 49}, {37, 257, 67}, {4, 1, 64},   {24, 33, 96}, {64, 64, 64}};
  for (const Algebra algebra : kAllAlgebras) {
    for (const DType dtype : dtypes_of(algebra)) {
      std::uint64_t seed = 1;
      for (const auto& [m, k, n] : sizes) {
        const Tensor a = random_tensor(dtype, Shape{m, k}, seed++);
        const Tensor b = random_tensor(dtype, Shape{k, n}, seed++);
        expect_close(algebra, a.view(), b.view(), multiply(algebra, a.view(), b.view()).view(),
                     "default caches");
        expect_close(algebra, a.view(), b.view(),
                     multiply(algebra, a.view(), b.view(), {.caches = kTinyCaches}).view(),
                     "tiny caches");
      }
    }
  }
}

TEST_P(MatmulOnInstructionSet, StridesAndAlignmentDoNotMatter) {
  for (const Algebra algebra : kAllAlgebras) {
    for (const DType dtype : dtypes_of(algebra)) {
      const Tensor a = random_tensor(dtype, {29, 70}, 1), b = random_tensor(dtype, {70, 43}, 2);
      const Tensor expected = multiply(algebra, a.view(), b.view());
      const Scattered sa(a.view()), sb(b.view());
      const Tensor at = Tensor::copy(a.view().transpose()), bt = Tensor::copy(b.view().transpose());
      const TensorView left[] = {a.view(), sa.view(), at.view().transpose()};
      const TensorView right[] = {b.view(), sb.view(), bt.view().transpose()};
      for (const auto& x : left) {
        for (const auto& y : right) {
          EXPECT_TRUE(bitwise_equal(multiply(algebra, x, y).view(), expected.view()))
              << name_of(algebra) << ' ' << name_of(dtype);
        }
      }
      // Into columns that are not contiguous, and into rows that are not aligned.
      Tensor wide(working_dtype(dtype), {43, 29}), odd(working_dtype(dtype), {29, 45});
      matmul(algebra, a.view(), b.view(), wide.mutable_view().transpose(), {Backend::kSimd});
      EXPECT_TRUE(bitwise_equal(wide.view().transpose(), expected.view()));
      matmul(algebra, a.view(), b.view(), odd.mutable_view().slice(1, 1, 44), {Backend::kSimd});
      EXPECT_TRUE(bitwise_equal(odd.view().slice(1, 1, 44), expected.view()));
      for (std::int64_t i = 0; i < 29; ++i) {  // the margins are untouched
        EXPECT_EQ(value_as_double(odd.view(), 45 * i), 0);
        EXPECT_EQ(value_as_double(odd.view(), 45 * i + 44), 0);
      }
    }
  }
}

// Mostly ordinary numbers, and one in `rarity` elements something special.
template <typename T>
void sprinkle(Tensor& tensor, std::uint64_t seed, std::uint64_t rarity,
              const std::vector<T>& specials) {
  const Philox stream(seed, stream_key("specials"));
  const auto elements = tensor.as<T>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::uint64_t raw = stream[i];
    if (raw % rarity == 0) elements[i] = specials[(raw >> 32) % specials.size()];
  }
}

template <typename T>
void compare_specials(const std::string& what) {
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), nan = Limits::quiet_NaN(), tiny = Limits::denorm_min();
  for (const Algebra algebra : kAllAlgebras) {
    if (algebra == Algebra::kBoolean) continue;
    std::uint64_t seed = 100;
    // Everything; what makes NaN of two infinities; holes, as the suite has them; denormals.
    for (const auto& [rarity, specials] :
         {std::pair<std::uint64_t, std::vector<T>>{97, {nan, inf, -inf, tiny, -tiny}},
          {53, {inf, -inf}},
          {7, {-inf}},
          {7, {inf}},
          {401, {nan}},
          {3, {tiny, -tiny, Limits::min(), T{0}, -T{0}}}}) {
      for (const auto& [m, k, n] : {std::tuple{26, 19, 35}, {13, 150, 40}, {1, 4, 3}}) {
        Tensor a = random_tensor(kDTypeOf<T>, Shape{m, k}, ++seed);
        Tensor b = random_tensor(kDTypeOf<T>, Shape{k, n}, ++seed);
        sprinkle<T>(a, seed, rarity, specials);
        sprinkle<T>(b, seed + 1000, rarity, specials);
        expect_close(algebra, a.view(), b.view(), multiply(algebra, a.view(), b.view()).view(),
                     what);
        expect_close(algebra, a.view(), b.view(),
                     multiply(algebra, a.view(), b.view(), {.caches = kTinyCaches}).view(), what);
      }
    }
  }
}

TEST_P(MatmulOnInstructionSet, NanInfinitiesAndDenormalsAsInTheReference) {
  compare_specials<float>("specials");
  compare_specials<double>("specials");
}

TEST_P(MatmulOnInstructionSet, WholeRowsAndColumnsOfSpecials) {
  const double inf = INFINITY;
  for (const double special : {-inf, inf, double{NAN}}) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      Tensor a = random_tensor(dtype, {14, 21}, 1), b = random_tensor(dtype, {21, 37}, 2);
      const auto set = [&](Tensor& t, std::int64_t i, std::int64_t j) {
        if (dtype == DType::kF32) {
          t.mutable_view().at<float>(i, j) = static_cast<float>(special);
        } else {
          t.mutable_view().at<double>(i, j) = special;
        }
      };
      for (std::int64_t l = 0; l < 21; ++l) {
        set(a, 3, l);
        set(b, l, 35);
      }
      for (const Algebra algebra :
           {Algebra::kLog, Algebra::kMaxPlus, Algebra::kMinPlus, Algebra::kEuclidean}) {
        expect_close(algebra, a.view(), b.view(), multiply(algebra, a.view(), b.view()).view(),
                     "rows of specials");
      }
    }
  }
}

TEST_P(MatmulOnInstructionSet, ThreadsDoNotChangeABit) {
  for (const Algebra algebra : kAllAlgebras) {
    const DType dtype = dtypes_of(algebra).front();
    // Enough pairs for threads, and sizes that no number of them divides.
    const Tensor a = random_tensor(dtype, {131, 157}, 1), b = random_tensor(dtype, {157, 163}, 2);
    const Tensor expected = multiply(algebra, a.view(), b.view());
    for (const int threads : {1, 2, 3, 5}) {
      for (const auto& caches : {kernels::CacheSizes{}, kTinyCaches}) {
        const SimdOptions options{.threads = threads, .caches = caches};
        const Tensor first = multiply(algebra, a.view(), b.view(), options);
        EXPECT_TRUE(
            bitwise_equal(multiply(algebra, a.view(), b.view(), options).view(), first.view()));
        if (caches.l1 != kTinyCaches.l1) {
          EXPECT_TRUE(bitwise_equal(first.view(), expected.view()))
              << name_of(algebra) << ' ' << threads << " threads";
        }
      }
    }
  }
}

TEST_P(MatmulOnInstructionSet, BatchesEqualSingleProducts) {
  for (const Algebra algebra : kAllAlgebras) {
    const DType dtype = dtypes_of(algebra).front();
    // b is repeated over the first axis; few large products, and many small ones shared by threads,
    // not equally many for each.
    for (const auto& [outer, inner, m, k, n] :
         {std::tuple{2, 3, 130, 131, 132}, {7, 29, 20, 31, 33}}) {
      if (GetParam().name == "SCALAR" && m > 100) continue;  // minutes, and nothing new
      const Tensor a = random_tensor(dtype, Shape{outer, inner, m, k}, 3);
      const Tensor b = random_tensor(dtype, Shape{inner, k, n}, 4);
      const Tensor out = multiply(algebra, a.view(), b.view(), {.threads = 3});
      for (std::int64_t i = 0; i < outer; ++i) {
        for (std::int64_t j = 0; j < inner; ++j) {
          const Tensor single =
              multiply(algebra, a.view().select(0, i).select(0, j), b.view().select(0, j));
          ASSERT_TRUE(bitwise_equal(out.view().select(0, i).select(0, j), single.view()))
              << name_of(algebra) << ' ' << i << ' ' << j;
        }
      }
    }
  }
}

TEST(SimdMatmul, ShortFloatsRoundTheWiderResultOnce) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    for (const Algebra algebra : {Algebra::kReal, Algebra::kLog, Algebra::kEuclidean}) {
      const Tensor a = random_tensor(dtype, {9, 40}, 1), b = random_tensor(dtype, {40, 21}, 2);
      const Tensor wide = multiply(algebra, a.view(), b.view());
      ASSERT_EQ(wide.dtype(), DType::kF32);
      const Tensor narrow = matmul(algebra, a.view(), b.view(), {Backend::kSimd});
      EXPECT_TRUE(bitwise_equal(narrow.view(), Tensor::converted(wide.view(), dtype).view()));
      // Widening first is the same computation.
      const Tensor wa = Tensor::converted(a.view(), DType::kF32);
      const Tensor wb = Tensor::converted(b.view(), DType::kF32);
      EXPECT_TRUE(bitwise_equal(multiply(algebra, wa.view(), wb.view()).view(), wide.view()));
    }
  }
}

TEST(SimdMatmul, LargeProductsAreCutIntoBlocks) {
  // More rows and columns than are packed at once (512 KiB at 512 terms: 256 of them).
  const Tensor a = random_tensor(DType::kF32, {1100, 600}, 1);
  const Tensor b = random_tensor(DType::kF32, {600, 1030}, 2);
  const SimdOptions small{.threads = 2, .caches = {.packed = 512 << 10}};
  const Tensor cut = multiply(Algebra::kMaxPlus, a.view(), b.view(), small);
  EXPECT_TRUE(bitwise_equal(cut.view(), multiply(Algebra::kMaxPlus, a.view(), b.view()).view()));
  const std::vector<std::int64_t> rows = {0, 255, 256, 517, 1023, 1024, 1099};
  const Tensor reference = reference_rows(Algebra::kMaxPlus, a.view(), b.view(), rows);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::int64_t j = 0; j < 1030; ++j) {
      EXPECT_EQ(cut.view().at<float>(rows[r], j),
                static_cast<float>(reference.view().at<double>(static_cast<int>(r), j)));
    }
  }
}

}  // namespace
}  // namespace assay::semiring
