// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/product_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/philox.h"
#include "compiler/graph/scalar.h"
#include "tensor/dtype.h"

namespace assay::compiler {
namespace {

// Rows of a factor: values, and errors where it is off.
template <typename T>
struct MadeFactor {
  std::vector<T> values;
  std::vector<Error> errors;

  MadeFactor(std::int64_t rows, std::int64_t length, bool is_off, std::uint64_t seed) {
    const Philox stream(seed, 3);
    for (std::int64_t i = 0; i < rows * length; ++i) {
      const auto at = static_cast<std::uint64_t>(3 * i);
      values.push_back(static_cast<T>(uniform(stream[at], -2, 2)));
      if (is_off) {
        const double bound = uniform(stream[at + 1], 0, 1e-3);
        errors.push_back({bound, bound * uniform(stream[at + 2], 0.1, 0.6)});
      }
    }
  }
  TensorView view() const {
    return {kDTypeOf<T>, values.data(), Shape({static_cast<std::int64_t>(values.size())})};
  }
  const Error* off() const { return errors.empty() ? nullptr : errors.data(); }
  Number at(std::int64_t i) const {
    const auto k = static_cast<std::size_t>(i);
    return {static_cast<double>(values[k]), errors.empty() ? Error{} : errors[k]};
  }
};

// By the definition of TermSums, pair by pair.
template <typename T>
Error expected_error(const MadeFactor<T>& x, std::int64_t x_at, const MadeFactor<T>& y,
                     std::int64_t y_at, std::int64_t length, double result) {
  const ElementBound bound(kDTypeOf<T>);
  TermSums sums;
  for (std::int64_t k = 0; k < length; ++k) {
    const auto a = x.at(x_at + k), b = y.at(y_at + k);
    const double p = std::abs(a.value), q = std::abs(b.value);
    sums.size += p * q;
    sums.squares += p * q * p * q;
    sums.bound += q * a.error.bound + p * b.error.bound + a.error.bound * b.error.bound;
    sums.deviation_squares +=
        std::pow(q * a.error.deviation, 2) + std::pow(p * b.error.deviation, 2);
  }
  return bound.of_sum(length, bound.with_rounded_products(length, sums), result);
}

// The same sums in another order differ by some units of f64.
void expect_near(const Error& got, const Error& want) {
  EXPECT_NEAR(got.bound, want.bound, 1e-11 * want.bound);
  EXPECT_NEAR(got.deviation, want.deviation, 1e-11 * want.deviation);
}

template <typename T>
void expect_errors(std::int64_t m, std::int64_t n, std::int64_t length, bool x_is_off,
                   bool y_is_off, bool is_transposed) {
  SCOPED_TRACE(fmt::format("{} x {} sums of {}, {}{}{}", m, n, length, x_is_off ? "x " : "",
                           y_is_off ? "y " : "", is_transposed ? "transposed" : ""));
  const MadeFactor<T> a(m, length, x_is_off, 1), b(n, length, y_is_off, 2);
  // Two equal batches, so that offsets count; rows of x are rows of results, or their columns.
  const auto view = [&](bool of_rows) {
    return FixedView{{2, m, n, length}, {0, of_rows ? length : 0, of_rows ? 0 : length, 1}};
  };
  const MadeFactor<T>&x = is_transposed ? b : a, &y = is_transposed ? a : b;
  std::vector<T> results(static_cast<std::size_t>(2 * m * n));
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = static_cast<T>(0.25 + static_cast<double>(i % 7));
  }
  std::vector<Error> errors(results.size());
  product_errors<T>(FactorRows<T>(x.view(), x.off(), view(!is_transposed)),
                    FactorRows<T>(y.view(), y.off(), view(is_transposed)),
                    ElementBound(kDTypeOf<T>), results, errors);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t batch = 0; batch < 2; ++batch) {
        const auto at = static_cast<std::size_t>((batch * m + i) * n + j);
        expect_near(errors[at], expected_error(a, i * length, b, j * length, length,
                                               static_cast<double>(results[at])));
      }
    }
  }
}

TEST(ProductErrors, AreThoseOfTheDefinitionAtAwkwardSizes) {
  for (const auto length : {1, 7, 8, 9, 255, 256, 257, 600}) {
    for (const auto& [m, n] : {std::pair{1, 1}, {1, 5}, {3, 4}, {33, 3}}) {
      expect_errors<float>(m, n, length, true, false, false);
      expect_errors<float>(m, n, length, false, true, length % 2 == 0);
    }
  }
  for (const bool is_transposed : {false, true}) {
    for (const int off : {0, 1, 2, 3}) {
      expect_errors<double>(5, 6, 19, (off & 1) != 0, (off & 2) != 0, is_transposed);
      expect_errors<BFloat16>(5, 6, 19, (off & 1) != 0, (off & 2) != 0, is_transposed);
      expect_errors<Half>(2, 9, 33, (off & 1) != 0, (off & 2) != 0, is_transposed);
    }
  }
}

TEST(ProductErrors, InfinitiesAndNaNAreTakenTermByTerm) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr std::int64_t kLength = 9;
  MadeFactor<float> x(3, kLength, true, 1);
  const MadeFactor<float> y(2, kLength, false, 2);
  x.values[0] = kInfinity;        // row 0: an infinity for certain
  x.errors[kLength] = kAnything;  // row 1: anything
  const std::vector<float> results = {kInfinity, -kInfinity, 1, 1, 1, 1};
  std::vector<Error> errors(6);
  product_errors<float>(FactorRows<float>(x.view(), x.off(), {{3, 2, kLength}, {kLength, 0, 1}}),
                        FactorRows<float>(y.view(), nullptr, {{3, 2, kLength}, {0, kLength, 1}}),
                        ElementBound(DType::kF32), results, errors);
  for (int j = 0; j < 2; ++j) {
    EXPECT_TRUE(std::isfinite(errors[j].bound));
    EXPECT_TRUE(std::isinf(errors[2 + j].bound));
    expect_near(errors[4 + j], expected_error(x, 2 * kLength, y, j * kLength, kLength, 1));
  }
}

// Values that are widened all at once, as they are read often, lie elsewhere than before; what is
// known of their errors has to follow. Rows of x are every other one, from the last on.
TEST(ProductErrors, OfNarrowFactorsThatAreOffFollowTheirValues) {
  constexpr std::int64_t kRows = 5, kColumns = 11, kLength = 9;
  const MadeFactor<BFloat16> x(2 * kRows, kLength, true, 1);
  const MadeFactor<float> y(kColumns, kLength, false, 2);
  MadeFactor<float> wide(2 * kRows, kLength, true, 1);
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    wide.values[i] = static_cast<float>(x.values[i]);
  }
  const FixedView of_x{{kRows, kColumns, kLength}, {-2 * kLength, 0, 1}, (2 * kRows - 1) * kLength};
  const FactorRows<float> rows(x.view(), x.off(), of_x);
  ASSERT_NE(rows.view().offset, of_x.offset);  // they do lie elsewhere
  const std::vector<float> results(kRows * kColumns, 0.5F);
  std::vector<Error> errors(results.size());
  product_errors<float>(
      rows, FactorRows<float>(y.view(), nullptr, {{kRows, kColumns, kLength}, {0, kLength, 1}}),
      ElementBound(DType::kF32), results, errors);
  for (std::int64_t i = 0; i < kRows; ++i) {
    for (std::int64_t j = 0; j < kColumns; ++j) {
      expect_near(
          errors[static_cast<std::size_t>(i * kColumns + j)],
          expected_error(wide, (2 * kRows - 1 - 2 * i) * kLength, y, j * kLength, kLength, 0.5));
    }
  }
}

// Weights that are widened as they are read give the errors of those that were widened before.
TEST(ProductErrors, OfNarrowFactorsAreThoseOfWideOnes) {
  constexpr std::int64_t kRows = 5, kColumns = 6;
  for (const std::int64_t length : {1, 9, 257, 600}) {
    const MadeFactor<float> x(kRows, length, true, 1);
    const MadeFactor<BFloat16> y(kColumns, length, false, 2);
    MadeFactor<float> wide(kColumns, length, false, 2);
    for (std::size_t i = 0; i < y.values.size(); ++i) {
      wide.values[i] = static_cast<float>(y.values[i]);
    }
    const std::vector<float> results(static_cast<std::size_t>(kRows * kColumns), 0.5F);
    const auto errors_with = [&](const TensorView& factor) {
      std::vector<Error> errors(results.size());
      product_errors<float>(
          FactorRows<float>(x.view(), x.off(), {{kRows, kColumns, length}, {length, 0, 1}}),
          FactorRows<float>(factor, nullptr, {{kRows, kColumns, length}, {0, length, 1}}),
          ElementBound(DType::kF32), results, errors);
      return errors;
    };
    const auto narrow = errors_with(y.view()), expected = errors_with(wide.view());
    for (std::size_t i = 0; i < narrow.size(); ++i) {
      EXPECT_EQ(narrow[i].bound, expected[i].bound);
      EXPECT_EQ(narrow[i].deviation, expected[i].deviation);
    }
  }
}

}  // namespace
}  // namespace assay::compiler
