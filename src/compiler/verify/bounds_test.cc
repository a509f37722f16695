// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/graph/dtypes.h"
#include "compiler/graph/graph_tensor.h"
#include "compiler/verify/element_bound.h"
#include "compiler/verify/test_inputs.h"

namespace assay::compiler {
namespace {

TEST(Bounds, NothingIsAskedOfASumThatOverflowsInOneOrderOnly) {
  Graph g;
  GraphTensor::input(g, "x", DType::kF64, {3}).sum(0).set_output("y");
  Tensor x(DType::kF64, Shape({3}));
  constexpr double kMost = std::numeric_limits<double>::max();
  for (const double last : {-kMost, -std::numeric_limits<double>::infinity()}) {
    x.as<double>()[0] = x.as<double>()[1] = kMost;
    x.as<double>()[2] = last;
    const auto y = std::move(interpret_with_bounds(g, {{"x", x.view()}}, {}).at("y"));
    EXPECT_TRUE(std::isinf(y.bounds[0]));
  }
}

TEST(Bounds, NothingIsAskedOfAProductThatOverflowsBeforeItIsAdded) {
  Graph g;
  const auto x = GraphTensor::input(g, "x", DType::kF64, {2});
  (x * GraphTensor::input(g, "y", DType::kF64, {2})).sum(0).set_output("z");
  Tensor a(DType::kF64, Shape({2})), b(DType::kF64, Shape({2}));
  a.as<double>()[0] = std::numeric_limits<double>::max();
  a.as<double>()[1] = b.as<double>()[1] = 1;
  b.as<double>()[0] = 2;
  const auto z =
      std::move(interpret_with_bounds(g, {{"x", a.view()}, {"y", b.view()}}, {}).at("z"));
  EXPECT_TRUE(std::isinf(z.bounds[0]));
}

TEST(Bounds, AreOfTheSizeOfRoundingAndNoLarger) {
  Graph g;
  GraphTensor::input(g, "x", DType::kF32, {4}).sum(0).set_output("y");
  Tensor x(DType::kF32, Shape({4}));
  for (auto& value : x.as<float>()) value = 0.5F;
  const auto y = std::move(interpret_with_bounds(g, {{"x", x.view()}}, {}).at("y"));
  EXPECT_GT(y.bounds[0], 0);
  EXPECT_LT(y.bounds[0], 2e-6);
  Tensor other(DType::kF32, Shape({}));
  other.as<float>()[0] = 2.00001F;
  EXPECT_NE(difference(y, other.view()), "");
  other.as<float>()[0] = 2;
  EXPECT_EQ(difference(y, other.view()), "");
}

// Σ x·y of `count` elements each, in f32; of bf16 or of f32.
BoundedTensor sum_of_products_of(DType dtype, std::int64_t count, double x, double y) {
  Graph g;
  auto a = GraphTensor::input(g, "x", dtype, {count});
  auto b = GraphTensor::input(g, "y", dtype, {count});
  if (dtype != DType::kF32) a = a.cast(DType::kF32), b = b.cast(DType::kF32);
  (a * b).sum(0).set_output("z");
  Tensor of_x(dtype, Shape({count})), of_y(dtype, Shape({count}));
  for (std::int64_t i = 0; i < count; ++i) {
    for (const auto& [tensor, value] : {std::pair(&of_x, x), std::pair(&of_y, y)}) {
      const auto bits = compiler::bits_of(dtype, value);
      std::memcpy(tensor->bytes().data() + static_cast<std::size_t>(i) * size_of(dtype), &bits,
                  size_of(dtype));
    }
  }
  return std::move(interpret_with_bounds(g, {{"x", of_x.view()}, {"y", of_y.view()}}, {}).at("z"));
}

TEST(Bounds, SumsOfBf16ProductsMayLoseWhatIsLessThanNormal) {
  Tensor zero(DType::kF32, Shape({}));
  zero.as<float>()[0] = 0;
  // 2⁻¹²⁸ is; 2⁻¹²³ is not.
  EXPECT_EQ(difference(sum_of_products_of(DType::kBF16, 1, 0x1p-64, 0x1p-64), zero.view()), "");
  EXPECT_NE(difference(sum_of_products_of(DType::kF32, 1, 0x1p-64, 0x1p-64), zero.view()), "");
  EXPECT_NE(difference(sum_of_products_of(DType::kBF16, 1, 0x1p-60, 0x1p-63), zero.view()), "");
  // A factor that is less than normal counts beside a large one, or an infinite one.
  EXPECT_NE(difference(sum_of_products_of(DType::kBF16, 1, 0x1p-130, 0x1p100), zero.view()), "");
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_NE(difference(sum_of_products_of(DType::kBF16, 1, 0x1p-130, infinite), zero.view()), "");
}

TEST(Bounds, SumsOfBf16ProductsMayRoundToOdd) {
  for (const std::int64_t count : {1, 3, 8, 1000}) {
    const double f32 = sum_of_products_of(DType::kF32, count, 0.5, 0.5).bounds[0];
    const double bf16 = sum_of_products_of(DType::kBF16, count, 0.5, 0.5).bounds[0];
    EXPECT_GT(bf16, f32);
    EXPECT_LE(bf16, 2 * f32);
  }
}

// Squares of errors are nothing there.
TEST(Bounds, OfWhatIsVerySmallAreNotNothing) {
  Graph g;
  const auto x = GraphTensor::input(g, "x", DType::kF64, {3, 40});
  (softmax(x * x.like(0)) * x).sum(1).set_output("y");
  Tensor small(DType::kF64, Shape({3, 40}));
  for (std::size_t i = 0; i < 120; ++i) small.as<double>()[i] = 1e-200 * static_cast<double>(i + 1);
  const auto y = std::move(interpret_with_bounds(g, {{"x", small.view()}}, {}).at("y"));
  for (std::int64_t i = 0; i < 3; ++i) {
    const double value = value_as_double(y.value.view(), i);
    EXPECT_GT(y.bounds[static_cast<std::size_t>(i)], 1e-16 * value);
    EXPECT_LT(y.bounds[static_cast<std::size_t>(i)], 1e-11 * value);
  }
}

// f64 has not all integers of 64 bits.
// The square of 1 / x is no number here, and 1 / x is as far off as x all the same.
TEST(Bounds, OfAReciprocalAreThoseOfItsOperand) {
  for (const double size : {1.0, 1e160, -1e160, 1e-160}) {
    Graph g;
    const auto sum = GraphTensor::input(g, "x", DType::kF64, {10000}).sum(0);
    sum.set_output("sum");
    recip(sum).set_output("reciprocal");
    Tensor x(DType::kF64, Shape({10000}));
    for (auto& value : x.as<double>()) value = size;
    const auto found = interpret_with_bounds(g, {{"x", x.view()}}, {});
    const auto relative = [&](const char* name) {
      const auto& of = found.at(name);
      return of.bounds[0] / std::abs(of.value.as<double>()[0]);
    };
    EXPECT_GE(relative("reciprocal"), relative("sum")) << size;
    EXPECT_LE(relative("reciprocal"), 2 * relative("sum")) << size;
  }
}

TEST(Bounds, OfAQuotientAreThoseOfBothOperands) {
  for (const double size : {1.0, -1e120, 1e-120}) {
    Graph g;
    const auto sum = GraphTensor::input(g, "x", DType::kF64, {10000}).sum(0);
    sum.set_output("sum");
    const auto three = sum.like(3);
    (three / sum).set_output("divisor");
    (sum / three).set_output("dividend");
    (sum / (sum + sum.like(size))).set_output("both");
    (three / (sum - sum)).set_output("anything");
    (three / three.like(7)).set_output("exact");
    Tensor x(DType::kF64, Shape({10000}));
    for (auto& value : x.as<double>()) value = size;
    const auto found = interpret_with_bounds(g, {{"x", x.view()}}, {});
    const auto relative = [&](const char* name) {
      const auto& of = found.at(name);
      return of.bounds.empty() ? 0 : of.bounds[0] / std::abs(of.value.as<double>()[0]);
    };
    for (const auto* name : {"divisor", "dividend"}) {
      EXPECT_GE(relative(name), relative("sum")) << name << " of " << size;
      EXPECT_LE(relative(name), 2 * relative("sum")) << name << " of " << size;
    }
    EXPECT_GE(relative("both"), relative("sum")) << size;
    EXPECT_LE(relative("both"), 4 * relative("sum")) << size;
    EXPECT_TRUE(std::isinf(found.at("anything").bounds[0]));
    EXPECT_EQ(relative("exact"), 0);
  }
}

// Too small to be squared, and of either sign: errors are added up all the same.
TEST(Bounds, OfSmallProductsGrowWithEveryError) {
  const Number a{1e-150, {1e-165, 1e-165}}, b{-1, {1e-16, 1e-16}};
  const auto error = ElementBound(DType::kF64).of_product(a, b, -1e-150);
  EXPECT_GE(error.deviation, 1e-165);
  EXPECT_GE(error.bound, 1e-165);
}

TEST(Bounds, TellLargeIntegersApart) {
  Graph g;
  GraphTensor::input(g, "x", DType::kI64, {1}).set_output("y");
  Tensor x(DType::kI64, Shape({1}));
  x.as<std::int64_t>()[0] = std::int64_t{1} << 60;
  const auto y = std::move(interpret_with_bounds(g, {{"x", x.view()}}, {}).at("y"));
  EXPECT_EQ(difference(y, x.view()), "");
  x.as<std::int64_t>()[0] += 1;
  EXPECT_NE(difference(y, x.view()), "");
}

// Two errors that are one: 24 doublings are a factor, not a walk.
// What is computed of integers alone is exact, also sums of products of products; of a comparison
// that could go either way no more is open than what it goes into.
TEST(Bounds, IntegersAreHeldToThemselves) {
  for (const auto dtype : {DType::kI32, DType::kI64}) {
    Graph graph;
    const auto x = GraphTensor::input(graph, "x", dtype, {4, 6});
    const auto w = GraphTensor::input(graph, "w", dtype, {6, 5});
    matmul(x * x, w).set_output("y");
    const auto f = GraphTensor::input(graph, "f", DType::kF32, {4, 6});
    const auto near = less(sin(f) * sin(f), f * f);  // of row 2, where f is 0, anything
    matmul(near.cast(dtype), w).set_output("z");
    auto trial = make_trial(graph, {}, InputStyle::kOrdinary, 3);
    const auto values = trial.inputs.at("f").as<float>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = i / 6 == 2 ? 1e-9F : 1 + 0.1F * static_cast<float>(i);
    }
    const auto held = interpret_with_bounds(graph, trial.views(), {});
    for (const double bound : held.at("y").bounds) EXPECT_EQ(bound, 0);
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(std::isinf(held.at("z").bounds[i]), i / 5 == 2) << i;
    }
  }
}

TEST(Bounds, OfWhatIsAddedToItselfGrowAsItDoes) {
  for (const bool adds : {true, false}) {
    Graph g;
    const auto x = GraphTensor::input(g, "x", DType::kF32, {1});
    auto y = exp2(x);
    for (int i = 0; i < (adds ? 24 : 6); ++i) y = adds ? y + y : y * y;
    y.set_output("y");
    Tensor given(DType::kF32, Shape({1}));
    given.as<float>()[0] = 0.3F;
    const auto bounded = std::move(interpret_with_bounds(g, {{"x", given.view()}}, {}).at("y"));
    const double value = value_as_double(bounded.value.view(), 0);
    const double first = 0x1p-24 * (adds ? 1 : 64);
    EXPECT_GT(bounded.bounds[0], 4 * first * value) << adds;
    EXPECT_LT(bounded.bounds[0], 64 * first * value) << adds;
  }
}

// A worst case would allow anything after a few products in a row.
TEST(Bounds, HoldOnThroughManyProducts) {
  constexpr std::int64_t kWide = 64;
  Graph g;
  auto x = GraphTensor::input(g, "x", DType::kF32, {3, kWide});
  for (int i = 0; i < 8; ++i) {
    x = matmul(x, GraphTensor::input(g, fmt::format("w{}", i), DType::kF32, {kWide, kWide}));
  }
  x.set_output("y");
  const auto trial = make_trial(g, {}, InputStyle::kOrdinary, 1);
  const auto y = std::move(interpret_with_bounds(g, trial.views(), {}).at("y"));
  double size = 0, greatest = 0;
  for (std::int64_t i = 0; i < y.value.element_count(); ++i) {
    size = std::max(size, std::abs(value_as_double(y.value.view(), i)));
    greatest = std::max(greatest, y.bounds[static_cast<std::size_t>(i)]);
  }
  EXPECT_GT(greatest, 0);
  EXPECT_LT(greatest, 2e-3 * size);
  // What is off by one part in a hundred is seen.
  Tensor other = Tensor::copy(y.value.view());
  for (auto& value : other.as<float>()) value *= 1.01F;
  EXPECT_NE(difference(y, other.view()), "");
}

}  // namespace
}  // namespace assay::compiler
