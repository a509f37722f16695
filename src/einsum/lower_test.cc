// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Every way to compute a step gives its result, whatever the layouts: each candidate of
// lower_pair() is run, not only the one that a plan would take.
#include "einsum/lower/lower.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "base/philox.h"
#include "einsum/kernels/gett_terms.h"
#include "einsum/run/run_pair.h"

namespace assay::einsum {
namespace {

// Labels of each group with their extents, and the order in which each tensor has them.
struct Step {
  std::vector<std::int64_t> extents;
  std::vector<Label> a, b, c;
};

template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, double>, double,
                                std::complex<double>>;

template <typename T>
std::vector<T> values(std::size_t count, std::uint64_t seed) {
  const Philox random(seed, stream_key("lower"));
  std::vector<T> v(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 2 * unit_interval(random[2 * i]) - 1;
    if constexpr (std::is_floating_point_v<T>) {
      v[i] = static_cast<T>(x);
    } else {
      using R = typename T::value_type;
      v[i] = T(static_cast<R>(x), static_cast<R>(2 * unit_interval(random[2 * i + 1]) - 1));
    }
  }
  return v;
}

template <typename T>
double unit_roundoff() {
  if constexpr (std::is_floating_point_v<T>) {
    return std::numeric_limits<T>::epsilon() / 2;
  } else {
    return std::numeric_limits<typename T::value_type>::epsilon() / 2;
  }
}

template <typename T>
std::size_t size_of_layout(const Layout& layout) {
  return static_cast<std::size_t>(element_count(layout));
}

// Runs all candidates with alpha and beta; returns how many there were of each kernel.
template <typename T>
std::array<int, kKernels> check_every_way(const Step& step, int threads, T alpha, T beta) {
  const PairTask task{dense_layout(step.a, step.extents), dense_layout(step.b, step.extents),
                      dense_layout(step.c, step.extents), kDTypeOf<T>, threads};
  const auto a = values<T>(size_of_layout<T>(task.a), 1),
             b = values<T>(size_of_layout<T>(task.b), 2),
             before = values<T>(size_of_layout<T>(task.c), 3);
  std::vector<Wide<T>> right(before.size());
  std::vector<double> scale(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    right[i] = beta == T(0) ? Wide<T>(0) : Wide<T>(beta) * Wide<T>(before[i]);
    scale[i] = std::abs(right[i]);
  }
  double terms = 1;
  const auto loops = loops_over(task.a, task.b, task.c);
  for (const auto& loop : loops) terms *= loop.c == 0 ? static_cast<double>(loop.extent) : 1;
  Odometer at(loops);
  at.seek(0);
  for (std::int64_t i = 0; i < iterations(loops); ++i, at.next()) {
    const Wide<T> product = Wide<T>(alpha) * Wide<T>(a[static_cast<std::size_t>(at.a())]) *
                            Wide<T>(b[static_cast<std::size_t>(at.b())]);
    right[static_cast<std::size_t>(at.c())] += product;
    scale[static_cast<std::size_t>(at.c())] += std::abs(product);
  }
  // A sum of `terms` products in any order is off by (terms + 4) u Σ|x|, the scaling and the four
  // real products of a complex one included; twice that.
  const double bound = 2 * (terms + 4) * unit_roundoff<T>();
  Workspace workspace;
  std::array<int, kKernels> seen{};
  for (const auto& way : lower_pair(task, TimeModel())) {
    ++seen[static_cast<std::size_t>(way.kernel)];
    auto c = before;
    if (beta == T(0)) std::ranges::fill(c, T(std::numeric_limits<double>::quiet_NaN()));
    Counters counters;
    run_pair<T>(way, a.data(), b.data(), c.data(), alpha, beta, threads, workspace, counters);
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double error = std::abs(Wide<T>(c[i]) - right[i]);
      EXPECT_LE(error, bound * scale[i])
          << name_of(way.kernel) << ", " << way.copies << " copies, element " << i;
      if (!(error <= bound * scale[i])) return seen;
    }
    EXPECT_EQ(workspace.live_bytes(), 0u);
  }
  return seen;
}

// Labels 0–1 batch, 2–4 M, 5–6 N, 7–9 K, in random orders.
Step random_step(std::uint64_t seed) {
  const Philox random(seed, stream_key("steps"));
  std::uint64_t next = 0;
  const auto below = [&](int bound) {
    return static_cast<int>(uniform_below(random[next++], static_cast<std::uint64_t>(bound)));
  };
  Step step;
  step.extents.assign(kMaxLabels, 1);
  const auto add = [&](Label first, int most, std::initializer_list<int> sizes,
                       std::initializer_list<std::vector<Label>*> tensors) {
    const int count = below(most + 1);
    for (Label l = first; l < first + count; ++l) {
      step.extents[static_cast<std::size_t>(l)] =
          sizes.begin()[below(static_cast<int>(sizes.size()))];
      for (auto* t : tensors) t->insert(t->begin() + below(static_cast<int>(t->size()) + 1), l);
    }
  };
  add(0, 1, {2, 3}, {&step.a, &step.b, &step.c});
  add(2, 3, {2, 3, 5, 13}, {&step.a, &step.c});
  add(5, 2, {2, 4, 7, 33}, {&step.b, &step.c});
  add(7, 3, {2, 3, 4, 9, 16}, {&step.a, &step.b});
  return step;
}

template <typename T>
class EveryWay : public ::testing::Test {};
using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(EveryWay, Types);

TYPED_TEST(EveryWay, GivesTheResultOfRandomSteps) {
  using T = TypeParam;
  std::array<int, kKernels> seen{};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const bool plain = seed % 3 != 0;
    const auto here = check_every_way<T>(random_step(seed), seed % 4 == 0 ? 2 : 1,
                                         plain ? T(1) : T(-1.5), plain ? T(0) : T(0.5));
    if (::testing::Test::HasFailure()) return;
    for (std::size_t k = 0; k < seen.size(); ++k) seen[k] += here[k];
  }
  for (const Kernel kernel : {Kernel::kLoopedGemm, Kernel::kTransposeGemm, Kernel::kGett}) {
    EXPECT_GT(seen[static_cast<std::size_t>(kernel)], 10) << name_of(kernel);
  }
}

// Sums longer than a block, whose contiguous labels differ, or are in neither group, or short.
TYPED_TEST(EveryWay, GivesTheResultOfLongSums) {
  using T = TypeParam;
  const auto with = [](std::vector<std::int64_t> extents) {
    extents.resize(kMaxLabels, 1);
    return extents;
  };
  // abcd,dbea->ec; abcde,efbad->cf; abcdef,dfgb->aceg; aibj,jick->abck
  check_every_way<T>({with({5, 9, 13, 27, 6}), {0, 1, 2, 3}, {3, 1, 4, 0}, {4, 2}}, 1, T(1), T(0));
  check_every_way<T>({with({6, 3, 11, 20, 9, 7}), {0, 1, 2, 3, 4}, {4, 5, 1, 0, 3}, {2, 5}}, 2,
                     T(2), T(1));
  check_every_way<T>(
      {with({3, 12, 2, 9, 5, 11, 6}), {0, 1, 2, 3, 4, 5}, {3, 5, 6, 1}, {0, 2, 4, 6}}, 1, T(1),
      T(0));
  check_every_way<T>({with({4, 25, 5, 23, 3, 6}), {0, 1, 2, 3}, {3, 1, 4, 5}, {0, 2, 4, 5}}, 1,
                     T(1), T(-2));
  // One summed label of 1300, contiguous on both sides, on one, on none.
  for (const auto& [a, b] : {std::pair<std::vector<Label>, std::vector<Label>>{{0, 2}, {1, 2}},
                             {{0, 2}, {2, 1}},
                             {{2, 0}, {2, 1}}}) {
    check_every_way<T>({with({13, 35, 1300}), a, b, {0, 1}}, 1, T(1), T(0));
    check_every_way<T>({with({13, 35, 1300}), a, b, {1, 0}}, 2, T(1), T(0));
  }
}

// NaN and infinity reach exactly the sums that they belong to.
TEST(Gett, NotANumberStaysInItsRow) {
  Step step{{}, {0, 2, 3}, {3, 1, 2}, {0, 1}};
  step.extents.assign(kMaxLabels, 1);
  const std::int64_t m = 14, n = 34, p = 20, q = 30;
  for (const auto& [l, extent] : {std::pair{0, m}, {1, n}, {2, p}, {3, q}}) {
    step.extents[static_cast<std::size_t>(l)] = extent;
  }
  const PairTask task{dense_layout(step.a, step.extents), dense_layout(step.b, step.extents),
                      dense_layout(step.c, step.extents), DType::kF32, 1};
  std::vector<float> a(static_cast<std::size_t>(m * p * q), 1),
      b(static_cast<std::size_t>(q * n * p), 1), c(static_cast<std::size_t>(m * n));
  a[static_cast<std::size_t>(13 * p * q + 7)] = std::numeric_limits<float>::quiet_NaN();
  a[static_cast<std::size_t>(2 * p * q + 599)] = std::numeric_limits<float>::infinity();
  Workspace workspace;
  int ways = 0;
  for (const auto& way : lower_pair(task, TimeModel())) {
    if (way.kernel != Kernel::kGett) continue;
    ++ways;
    Counters counters;
    run_pair<float>(way, a.data(), b.data(), c.data(), 1, 0, 1, workspace, counters);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const float x = c[static_cast<std::size_t>(i * n + j)];
        if (i == 13) {
          EXPECT_TRUE(std::isnan(x));
        } else {
          EXPECT_EQ(x, i == 2 ? std::numeric_limits<float>::infinity() : 600.0F);
        }
      }
    }
  }
  EXPECT_GE(ways, 2);
}

TEST(TermOrder, BlocksCoverEveryTermOnce) {
  const std::vector<std::vector<Loop>> sums = {
      {},
      {{1300, 1, 1, 0}},
      {{1300, 7, 9, 0}},
      {{32, 96, 1, 0}, {24, 1, 64, 0}},
      {{16, 512, 16, 0}, {16, 8192, 256, 0}, {16, 32, 1, 0}, {32, 1, 4096, 0}},
      {{2, 1, 8, 0}, {2, 2, 4, 0}, {2, 4, 2, 0}, {2, 8, 1, 0}},
      {{700, 1, 1000, 0}, {900, 1000, 1, 0}}};
  for (const auto& k : sums) {
    for (const std::int64_t most : {1, 7, 64, 512}) {
      const TermOrder order(k, most, 64);
      std::int64_t begin = 0, sum = 0;
      const std::int64_t terms = iterations(k);
      while (begin < terms) {
        const TermBlock b = order.block_at(begin);
        ASSERT_GE(b.terms(), 1);
        ASSERT_LE(b.terms(), most);
        ASSERT_LE(b.p0 + b.p, order.p().extent);
        ASSERT_LE(b.q0 + b.q, order.q().extent);
        ASSERT_LE(b.r0 + b.r, iterations(order.rest()));
        // Distinct terms have distinct numbers: their sum tells that each came once.
        for (std::int64_t r = b.r0; r < b.r0 + b.r && terms < 10000; ++r) {
          for (std::int64_t q = b.q0; q < b.q0 + b.q; ++q) {
            for (std::int64_t p = b.p0; p < b.p0 + b.p; ++p) {
              sum += (r * order.q().extent + q) * order.p().extent + p;
            }
          }
        }
        begin += b.terms();
      }
      EXPECT_EQ(begin, terms);
      if (terms < 10000) {
        EXPECT_EQ(sum, terms * (terms - 1) / 2);
      }
    }
  }
}

}  // namespace
}  // namespace assay::einsum
