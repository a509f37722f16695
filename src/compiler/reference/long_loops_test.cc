// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/long_loops.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/philox.h"
#include "compiler/reference/exact_sum.h"

namespace assay::compiler {
namespace {

// Of every size there is, some not finite.
template <typename T>
std::vector<T> numbers(std::int64_t count, std::uint64_t seed) {
  const Philox stream(seed);
  std::vector<T> all;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = stream[static_cast<std::uint64_t>(i)];
    const double unit = 2 * unit_interval(bits) - 1;
    const int most = sizeof(T) == 8 ? 150 : 18;
    const auto power = static_cast<int>(bits % static_cast<std::uint64_t>(2 * most)) - most;
    all.push_back(static_cast<T>(unit * std::pow(10.0, power)));
    if (i % 97 == 50) all.back() = std::numeric_limits<T>::infinity();
  }
  return all;
}
std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

// One after the other, through memory that nothing is known of: no vectors, nothing fused.
template <typename T>
void expect_same_sums() {
  for (const std::int64_t count : {0, 8, 16, 72, 256, 4104}) {
    for (const std::int64_t off : {0, 1, 3}) {  // of any alignment
      const auto x = numbers<T>(count + off, 1), y = numbers<T>(count + off, 2);
      double got[kSumParts] = {0.5, -3, 0, 1e300, 0, 0, 7, 1}, want[kSumParts];
      std::copy_n(got, kSumParts, want);
      add_products(x.data() + off, y.data() + off, count, got);
      for (std::int64_t k = 0; k < count; ++k) {
        const auto at = static_cast<std::size_t>(k + off);
        volatile T product = x[at];
        product = product * y[at];
        volatile double sum = want[k % kSumParts];
        sum = sum + static_cast<double>(product);
        want[k % kSumParts] = sum;
      }
      for (std::int64_t part = 0; part < kSumParts; ++part) {
        if (std::isnan(want[part])) {
          EXPECT_TRUE(std::isnan(got[part]));
        } else {
          EXPECT_EQ(bits_of(got[part]), bits_of(want[part])) << count << " terms, part " << part;
        }
      }
    }
  }
}

TEST(LongLoops, SumsHaveTheBitsOfTermByTerm) {
  expect_same_sums<float>();
  expect_same_sums<double>();
}

TEST(LongLoops, EveryBFloatIsWidenedExactly) {
  std::vector<BFloat16> all;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    all.push_back(BFloat16::from_bits(static_cast<std::uint16_t>(bits)));
  }
  const auto count = static_cast<std::int64_t>(all.size());
  std::vector<float> narrow(all.size());
  std::vector<double> wide(all.size());
  widen(all.data(), count, narrow.data());
  widen(all.data(), count, wide.data());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto want = static_cast<float>(all[i]);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(narrow[i]) && std::isnan(wide[i])) << i;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(narrow[i]), std::bit_cast<std::uint32_t>(want)) << i;
      EXPECT_EQ(bits_of(wide[i]), bits_of(static_cast<double>(want))) << i;
    }
  }
}

TEST(LongLoops, Sizes) {
  for (const std::int64_t count : {0, 1, 7, 8, 33}) {
    const auto x = numbers<float>(count, 5);
    const auto y = numbers<double>(count, 6);
    std::vector<double> of_x(x.size()), of_y(y.size());
    widen_sizes(x.data(), count, of_x.data());
    widen_sizes(y.data(), count, of_y.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(of_x[i], x[i] < 0 ? -static_cast<double>(x[i]) : static_cast<double>(x[i]));
      EXPECT_EQ(of_y[i], y[i] < 0 ? -y[i] : y[i]);
    }
  }
}

// Whole numbers, so that nothing rounds: any length, also below and between eight.
TEST(LongLoops, DotsOfEveryLength) {
  for (std::int64_t length = 0; length < 600; ++length) {
    std::vector<double> x, y;
    double want = 0;
    for (std::int64_t k = 0; k < length; ++k) {
      x.push_back(static_cast<double>(k % 17 - 8));
      y.push_back(static_cast<double>(k % 23 - 11));
      want += x.back() * y.back();
    }
    EXPECT_EQ(dot(x.data(), y.data(), length), want) << length;
    const std::vector<float> narrow_x(x.begin(), x.end()), narrow_y(y.begin(), y.end());
    EXPECT_EQ(dot(narrow_x.data(), narrow_y.data(), length), static_cast<float>(want)) << length;
  }
}

}  // namespace
}  // namespace assay::compiler
