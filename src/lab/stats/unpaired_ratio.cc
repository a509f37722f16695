// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/unpaired_ratio.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

std::vector<double> logarithms(std::span<const double> values, const char* side) {
  if (values.empty()) fail("unpaired ratio: side {} has no attempts", side);
  std::vector<double> logs;
  logs.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || values[i] <= 0) {
      fail("unpaired ratio: attempt {} of side {} is not positive and finite: {}", i, side,
           values[i]);
    }
    logs.push_back(std::log(values[i]));
  }
  return logs;
}

// All differences y − x of two sorted sides, without ever holding them: rounding keeps their order,
// so that a walk along both sides counts how many are at most a value.
class PairDifferences {
 public:
  PairDifferences(std::span<const double> a, std::span<const double> b)
      : x_(logarithms(a, "a")), y_(logarithms(b, "b")) {
    std::ranges::sort(x_);
    std::ranges::sort(y_);
  }

  long size() const { return std::ssize(x_) * std::ssize(y_); }

  long at_most(double value) const {
    long count = 0;
    std::size_t j = 0;
    for (const double x : x_) {  // the larger x, the more differences are small
      while (j < y_.size() && y_[j] - x <= value) ++j;
      count += static_cast<long>(j);
    }
    return count;
  }

  // The k-th smallest, k from 1 on: the least number that k of them do not exceed, found by halving
  // the numbers there are between the extremes.
  double ranked(long k) const {
    auto low = ordinal(y_.front() - x_.back()), high = ordinal(y_.back() - x_.front());
    while (low < high) {
      const auto middle = low + (high - low) / 2;
      if (at_most(number(middle)) >= k) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return number(low);
  }

  double median() const {
    const long half = size() / 2;
    const double middle[] = {ranked(size() % 2 == 0 ? half : half + 1), ranked(half + 1)};
    return lab::median(middle);
  }

 private:
  // Numbers in their order, as integers. (Between finite ones of both signs there are fewer than
  // 2^63.)
  static std::uint64_t ordinal(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  }
  static double number(std::uint64_t ordinal) {
    return std::bit_cast<double>((ordinal & kSign) != 0 ? ordinal & ~kSign : ~ordinal);
  }
  static constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

  std::vector<double> x_, y_;
};

}  // namespace

UnpairedRatio unpaired_ratio(std::span<const double> a, std::span<const double> b,
                             double confidence) {
  if (a.empty() || b.empty()) PairDifferences(a, b);  // says which side has nothing
  return unpaired_ratio(a, b, RankSum(static_cast<int>(a.size()), static_cast<int>(b.size())),
                        confidence);
}

UnpairedRatio unpaired_ratio(std::span<const double> a, std::span<const double> b,
                             const RankSum& distribution, double confidence) {
  const PairDifferences d(a, b);
  UnpairedRatio result{
      static_cast<int>(a.size()), static_cast<int>(b.size()), 0, {}, distribution.exact()};
  check(distribution.m() == result.a_count && distribution.n() == result.b_count,
        "the distribution is that of the sizes of both sides");
  result.ratio = std::exp(d.median());
  if (const auto k = distribution.interval_rank(confidence)) {
    result.interval = Interval{std::exp(d.ranked(*k)), std::exp(d.ranked(d.size() + 1 - *k)),
                               1 - 2 * distribution.at_most(*k - 1)};
  }
  return result;
}

}  // namespace assay::lab
