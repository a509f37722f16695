// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Functions of the front end beside the mathematical library's, in units of the last place of the
// result, where naive forms have no digit left.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "compiler/graph/dtypes.h"
#include "compiler/graph/graph_tensor.h"
#include "compiler/reference/interpret.h"
#include "tensor/roundoff.h"

namespace assay::compiler {
namespace {

using Built = GraphTensor (*)(const GraphTensor&);
using Exact = std::function<long double(long double)>;

// ±1e-8 … ±40, and what has no size.
std::vector<double> awkward_numbers() {
  std::vector<double> all{0.0, -0.0, INFINITY, -INFINITY, NAN};
  for (double size = 1e-8; size < 40; size *= 1.0137) {
    all.push_back(size);
    all.push_back(-size);
  }
  return all;
}

// `units(x)` may a result be off by. What is below normal, or beyond the greatest, is left out.
void expect_exact(Built built, const Exact& exact, DType dtype,
                  const std::function<double(double)>& units) {
  const auto numbers = awkward_numbers();
  const auto count = static_cast<std::int64_t>(numbers.size());
  Graph g;
  built(GraphTensor::input(g, "x", dtype, {count})).set_output("y");
  Tensor x(dtype, Shape({count}));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto bits = bits_of(dtype, numbers[i]);
    std::memcpy(x.bytes().data() + i * size_of(dtype), &bits, size_of(dtype));
  }
  const auto outputs = interpret(g, {{"x", x.view()}}, {});
  const auto got = outputs.at("y").view();
  const double unit = 2 * unit_roundoff(dtype);
  const double least = dtype == DType::kF64 ? 1e-300 : dtype == DType::kF16 ? 7e-5 : 1e-37;
  const double greatest = dtype == DType::kF16 ? 6e4 : 1e30;
  int compared = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double at = value_as_double(x.view(), i), y = value_as_double(got, i);
    const auto want = exact(at);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(y)) << at;
    } else if (std::isinf(want) || want == 0) {
      EXPECT_EQ(y, static_cast<double>(want)) << at;
      EXPECT_EQ(std::signbit(y), std::signbit(want)) << at;
    } else if (std::abs(want) > least && std::abs(want) < greatest) {
      EXPECT_LE(std::abs(y - want) / std::abs(want), units(at) * unit) << at << " is " << y;
      ++compared;
    }
  }
  EXPECT_GT(compared, count / 3);
}

class ElementaryFunctions : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(, ElementaryFunctions,
                         testing::Values(DType::kF32, DType::kF64, DType::kBF16, DType::kF16),
                         [](const auto& with) { return std::string(name_of(with.param)); });

double few(double) { return 4; }
// Of eˣ, whose argument is rounded before it is raised: x log₂e is off by half a unit of its own.
double of_exponential(double x) { return 4 + std::abs(x); }

TEST_P(ElementaryFunctions, ExponentialAndLogarithm) {
  const bool is_narrow = GetParam() == DType::kBF16 || GetParam() == DType::kF16;
  expect_exact(
      exp, [](long double x) { return std::exp(x); }, GetParam(), is_narrow ? few : of_exponential);
  const auto log_of_size = [](const GraphTensor& x) { return log(max(x, -x)); };
  expect_exact(
      log_of_size, [](long double x) { return std::log(std::abs(x)); }, GetParam(), few);
}
TEST_P(ElementaryFunctions, TanhNearZero) {
  expect_exact(
      tanh, [](long double x) { return std::tanh(x); }, GetParam(), few);
}
TEST_P(ElementaryFunctions, Expm1NearZero) {
  expect_exact(
      expm1, [](long double x) { return std::expm1(x); }, GetParam(), of_exponential);
}
TEST_P(ElementaryFunctions, Log1pNearZero) {
  expect_exact(
      log1p, [](long double x) { return std::log1p(x); }, GetParam(), few);
}
TEST_P(ElementaryFunctions, TailsOfSigmoidAndSilu) {
  const auto exact = [](long double x) { return 1 / (1 + std::exp(-x)); };
  expect_exact(sigmoid, exact, GetParam(), of_exponential);
  expect_exact(
      silu, [&](long double x) { return x * exact(x); }, GetParam(), of_exponential);
}
// Its argument of the exponential grows as x³ does, and takes five roundings with it.
TEST_P(ElementaryFunctions, TailsOfGelu) {
  const auto exact = [](long double x) {
    const auto inner = std::sqrt(2 / 3.141592653589793238462643L) * (x + 0.044715L * x * x * x);
    return x / (1 + std::exp(-2 * inner));
  };
  const auto units = [](double x) { return 4 + 5 * std::abs(1.6 * x + 0.0714 * x * x * x); };
  expect_exact(gelu_tanh, exact, GetParam(), units);
}

}  // namespace
}  // namespace assay::compiler
