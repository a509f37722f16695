// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sums and products as the interpreter has them: integers wrap around, floating point comes
// together in f64 and is rounded once.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "compiler/graph/scalar.h"
#include "compiler/reference/long_loops.h"

namespace assay::compiler {

template <typename W>
W sum_of(W a, W b) {
  if constexpr (std::is_same_v<W, bool>)
    return a || b;
  else if constexpr (std::is_integral_v<W>)
    return wrapped_add(a, b);
  else
    return a + b;
}
template <typename W>
W product_of(W a, W b) {
  if constexpr (std::is_same_v<W, bool>)
    return a && b;
  else if constexpr (std::is_integral_v<W>)
    return wrapped_mul(a, b);
  else
    return a * b;
}

// A sum in f64 that is off by little more than its last rounding, as long as it stays finite on the
// way: what a graph in f64 is held to must be better than what is held to it. What each addition
// loses is kept beside it (Neumaier).
class ExactSum {
 public:
  void add(double x) {
    const double sum = sum_ + x;
    lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - sum) + x : (x - sum) + sum_;
    sum_ = sum;
  }
  // Infinities and NaN lose what is none of a number.
  double value() const { return std::isfinite(lost_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

// Σ x[k] · y[k], each product rounded to T. Floating-point sums come together in eight parts, so
// that one need not wait for another, a few hundred terms at a time.
template <typename T>
T dot(const T* x, const T* y, std::int64_t length) {
  const auto product = [&](std::int64_t k) -> Wide<T> {
    // In f64 such a product is exact: rounded once, either way.
    if constexpr (std::is_same_v<T, float>) return static_cast<double>(x[k] * y[k]);
    return widened(narrowed<T>(product_of(widened(x[k]), widened(y[k]))));
  };
  std::int64_t k = 0;
  Wide<T> sum{};
  if constexpr (kIsFloating<T>) {
    constexpr std::int64_t kTogether = 256;
    ExactSum all;
    while (k + kSumParts <= length) {
      const auto some = std::min((length - k) / kSumParts * kSumParts, kTogether);
      double parts[kSumParts] = {};
      if constexpr (sizeof(T) >= sizeof(float)) {
        add_products(x + k, y + k, some, parts);
      } else {
        for (std::int64_t i = 0; i < some; ++i) parts[i % kSumParts] += product(k + i);
      }
      for (const double part : parts) all.add(part);
      k += some;
    }
    for (; k < length; ++k) all.add(product(k));
    sum = all.value();
  }
  for (; k < length; ++k) sum = sum_of(sum, product(k));
  return narrowed<T>(sum);
}

}  // namespace assay::compiler
