// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/aten/erf.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/reference/interpret.h"
#include "tensor/roundoff.h"

namespace assay::models::pt2 {
namespace {

using compiler::GraphTensor;

// Units in the last place of the result, near 0 and in the tails; z² is rounded before it is
// raised.
template <typename T>
void expect_exact_erf(DType dtype) {
  std::vector<T> numbers{T{0}, -T{0}, static_cast<T>(INFINITY), static_cast<T>(-INFINITY)};
  for (double size = 1e-8; size < 9; size *= 1.0173) {
    numbers.push_back(static_cast<T>(size));
    numbers.push_back(static_cast<T>(-size));
  }
  const auto count = static_cast<std::int64_t>(numbers.size());
  compiler::Graph g;
  const auto x = GraphTensor::input(g, "x", dtype, {count});
  erf_of(x).set_output("erf");
  erfc_of(x).set_output("erfc");
  const TensorView given(dtype, reinterpret_cast<const std::byte*>(numbers.data()), Shape({count}));
  const auto outputs = interpret(g, {{"x", given}}, {});
  const double unit = 2 * unit_roundoff(dtype);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto z = static_cast<long double>(numbers[i]);
    const auto erf = outputs.at("erf").as<T>()[i], erfc = outputs.at("erfc").as<T>()[i];
    const auto off = [](T got, long double want) {
      return want == 0 ? std::abs(got) : static_cast<double>(std::abs((got - want) / want));
    };
    EXPECT_LE(off(erf, std::erf(z)), 6 * unit) << z;
    EXPECT_EQ(std::signbit(erf), std::signbit(z));
    const auto tail = std::erfc(z);
    if (tail < std::numeric_limits<T>::min() / unit && std::isfinite(z)) continue;
    EXPECT_LE(off(erfc, tail),
              (8 + 4 * std::abs(static_cast<double>(std::min(z * z, 100.0L)))) * unit)
        << z;
  }
}

TEST(Erf, IsExactNearZeroAndInItsTails) {
  expect_exact_erf<float>(DType::kF32);
  expect_exact_erf<double>(DType::kF64);
}

}  // namespace
}  // namespace assay::models::pt2
