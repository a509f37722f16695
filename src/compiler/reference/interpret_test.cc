// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/interpret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/philox.h"
#include "compiler/graph/dtypes.h"
#include "compiler/graph/graph_models.h"
#include "compiler/graph/graph_tensor.h"

namespace assay::compiler {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// A graph with its inputs, run once, its only output as doubles.
class Bench {
 public:
  Graph graph;
  Bindings symbols;

  GraphTensor input(const char* name, DType dtype, std::vector<std::int64_t> shape,
                    const std::vector<double>& values) {
    Tensor tensor(dtype, Shape(shape));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto bits = bits_of(dtype, values[i]);
      std::memcpy(tensor.bytes().data() + i * size_of(dtype), &bits, size_of(dtype));
    }
    tensors_.emplace(name, std::move(tensor));
    return GraphTensor::input(graph, name, dtype, {shape.begin(), shape.end()});
  }
  GraphTensor random(const char* name, std::vector<std::int64_t> shape, std::uint64_t seed) {
    std::vector<double> values(static_cast<std::size_t>(Shape(shape).element_count()));
    const Philox stream(seed);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 4 * unit_interval(stream[i]) - 2;
    return input(name, DType::kF64, std::move(shape), values);
  }
  std::vector<double> values(const std::string& name) const {
    return as_doubles(tensors_.at(name));
  }
  std::vector<double> run(const GraphTensor& result) {
    const auto name = "y" + std::to_string(count_++);
    result.set_output(name);
    InputViews views;
    for (const auto& [input, tensor] : tensors_) views.emplace(input, tensor.view());
    const auto outputs = interpret(graph, views, symbols);
    return as_doubles(outputs.at(name));
  }

 private:
  static std::vector<double> as_doubles(const Tensor& tensor) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < tensor.element_count(); ++i)
      values.push_back(value_as_double(tensor.view(), i));
    return values;
  }
  std::map<std::string, Tensor> tensors_;
  int count_ = 0;
};

void expect_near(const std::vector<double>& got, const std::vector<double>& want,
                 double tolerance = 1e-12) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << i;
}

TEST(Interpret, PrimitivesAtSpecialValues) {
  Bench b;
  const auto x = b.input("x", DType::kF32, {6}, {0, -0.0, 1, -2, kInf, kNan});
  const auto y = b.input("y", DType::kF32, {6}, {1, 1, kNan, 3, -kInf, 0});
  const auto expect = [&](const GraphTensor& t, const std::vector<double>& want) {
    const auto got = b.run(t);
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (std::isnan(want[i]))
        EXPECT_TRUE(std::isnan(got[i])) << i;
      else
        EXPECT_EQ(got[i], want[i]) << i;
    }
  };
  expect(max(x, y), {1, 1, kNan, 3, kInf, kNan});
  expect(less(x, y).cast(DType::kI32), {1, 1, 0, 1, 0, 0});
  expect(x + y, {1, 1, kNan, 1, kNan, kNan});
  expect(recip(x), {kInf, -kInf, 1, -0.5, 0, kNan});
  expect(x / y, {0, 0, kNan, -2.0F / 3, kNan, kNan});
  expect(y / x, {kInf, -kInf, kNan, -1.5, kNan, kNan});
  expect(mod(x, y), {0, 0, kNan, 1, kNan, kNan});
  expect(select(less(x, y), x, y), {0, 0, kNan, -2, -kInf, 0});
  expect(equal(x, x).cast(DType::kI64), {1, 1, 1, 1, 1, 0});
  expect(x.cast(DType::kI32), {0, 0, 1, -2, 2147483647, 0});
  expect(x.cast(DType::kBool).cast(DType::kF32), {0, 0, 1, 1, 1, 1});
  expect(x.max(0), {kNan});
}

TEST(Interpret, RoundsOnceToTheDtype) {
  Bench b;
  // 1 + 2^-8 + 2^-30 is above a tie of bf16; by way of f32 it would be the tie, and down.
  const auto x = b.input("x", DType::kF64, {2}, {1 + 0x1p-8 + 0x1p-30, 65519.999});
  EXPECT_EQ(b.run(x.cast(DType::kBF16))[0], 1 + 0x1p-7);
  EXPECT_EQ(b.run(x.cast(DType::kF16))[1], 65504);
  const auto i = b.input("i", DType::kI64, {1}, {0x1p60});
  const auto odd = i + i.like(0x1p36) + i.like(1);  // just above a tie of f32
  EXPECT_EQ(b.run(odd.cast(DType::kF32))[0], 0x1p60 + 0x1p37);
  EXPECT_EQ(b.run((i + i.like(0x1p36)).cast(DType::kF32))[0], 0x1p60);
  // A sum is rounded at its end only.
  const auto many = b.input("many", DType::kF16, {1}, {1}).expand(0, 4096);
  EXPECT_EQ(b.run(many.sum(0))[0], 4096);
}

// What a quotient leaves of its dividend, which a fused operation gives exactly, is at most half of
// what a unit in its last place would take.
TEST(Interpret, QuotientsAreTheNearest) {
  const std::pair<DType, int> dtypes[] = {
      {DType::kF64, 53}, {DType::kF32, 24}, {DType::kF16, 11}, {DType::kBF16, 8}};
  for (const auto& [dtype, digits] : dtypes) {
    Bench b;
    const Philox stream(7);
    std::vector<double> x, y;
    for (std::uint64_t i = 0; i < 20000; ++i) {
      x.push_back(std::ldexp(std::floor(std::ldexp(1 + unit_interval(stream[2 * i]), digits - 1)),
                             1 - digits));
      y.push_back(-std::ldexp(
          std::floor(std::ldexp(1 + unit_interval(stream[2 * i + 1]), digits - 1)), 1 - digits));
    }
    const auto count = static_cast<std::int64_t>(x.size());
    const auto got = b.run(b.input("x", dtype, {count}, x) / b.input("y", dtype, {count}, y));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double unit = std::ldexp(1.0, std::ilogb(got[i]) + 1 - digits);
      ASSERT_LE(std::abs(std::fma(-got[i], y[i], x[i])), unit / 2 * std::abs(y[i]))
          << name_of(dtype) << ": " << x[i] << " / " << y[i] << " is " << got[i];
    }
  }
}

TEST(Interpret, IntegersWrapAndDivideAsSaid) {
  Bench b;
  const auto x = b.input("x", DType::kI32, {4}, {2147483647, -7, 7, -2147483648.0});
  const auto y = b.input("y", DType::kI32, {4}, {1, 3, -3, -1});
  EXPECT_EQ(b.run(x + y), (std::vector<double>{-2147483648.0, -4, 4, 2147483647}));
  EXPECT_EQ(b.run(mod(x, y)), (std::vector<double>{0, 2, -2, 0}));
  EXPECT_EQ(b.run(mod(x, x.like(0))), (std::vector<double>{0, 0, 0, 0}));
}

TEST(Interpret, TheLesserOfTwoKnowsTheEndsOfIntegers) {
  constexpr double kLeast = -2147483648.0, kGreatest = 2147483647;
  Bench b;
  const auto x = b.input("x", DType::kI32, {5}, {kLeast, 5, kGreatest, kLeast, 0});
  const auto y = b.input("y", DType::kI32, {5}, {5, kLeast, kLeast, kGreatest, -1});
  EXPECT_EQ(b.run(min(x, y)), (std::vector<double>{kLeast, kLeast, kLeast, kLeast, -1}));
  const auto p = b.input("p", DType::kBool, {4}, {0, 0, 1, 1});
  const auto q = b.input("q", DType::kBool, {4}, {0, 1, 0, 1});
  EXPECT_EQ(b.run(min(p, q)), (std::vector<double>{0, 0, 0, 1}));
  // An expert below all is the first.
  const auto weights = b.input("weights", DType::kF32, {3, 1, 1}, {10, 20, 30});
  const auto ones = b.input("ones", DType::kF32, {3, 1}, {1, 1, 1});
  const auto expert = b.input("expert", DType::kI32, {3}, {kLeast, 1, kGreatest});
  EXPECT_EQ(b.run(expert_matmul(ones, weights, expert)), (std::vector<double>{10, 20, 30}));
}

TEST(Interpret, GatherClampsScatterDropsAndTheLastStays) {
  Bench b;
  const auto data = b.input("data", DType::kF32, {4}, {10, 11, 12, 13});
  const auto index = b.input("index", DType::kI64, {5}, {2, -3, 9, 0, 2});
  EXPECT_EQ(b.run(gather(data, index)), (std::vector<double>{12, 10, 13, 10, 12}));
  EXPECT_EQ(b.run(gather(data.reverse(0), index)), (std::vector<double>{11, 13, 10, 13, 11}));
  const auto values = b.input("values", DType::kF32, {5}, {1, 2, 3, 4, 5});
  EXPECT_EQ(b.run(scatter(data, index, values)), (std::vector<double>{4, 11, 5, 13}));
}

TEST(Interpret, MatmulIsTheSumOverK) {
  for (const auto& [m, k, n] :
       // Below, at and beyond what is taken at a time, with more rows and with more columns.
       std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                {3, 5, 2},
                                                {4, 1, 7},
                                                {33, 20, 17},
                                                {17, 9, 65},
                                                {70, 3, 2},
                                                {2, 300, 70},
                                                {16, 8, 32},
                                                {65, 16, 33}}) {
    Bench b;
    const auto x = b.random("x", {2, m, k}, 1), y = b.random("y", {k, n}, 2);
    const auto got = b.run(matmul(x, y));
    // The same with the factors' places changed, columns first.
    const auto turned = matmul(y.transpose(), x.permute({0, 2, 1})).permute({0, 2, 1});
    EXPECT_EQ(b.run(turned), got);
    const auto xs = b.values("x"), ys = b.values("y");
    std::vector<double> want;
    for (std::int64_t c = 0; c < 2; ++c) {
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::int64_t l = 0; l < k; ++l) {
            sum += xs[static_cast<std::size_t>((c * m + i) * k + l)] *
                   ys[static_cast<std::size_t>(l * n + j)];
          }
          want.push_back(sum);
        }
      }
    }
    expect_near(got, want);
  }
  Bench b;
  const auto v = b.input("v", DType::kF64, {2}, {3, 4}), w = b.input("w", DType::kF64, {2}, {5, 6});
  EXPECT_EQ(b.run(matmul(v, w)), (std::vector<double>{39}));
}

TEST(Interpret, BuiltOperationsAreWhatTheirNamesSay) {
  Bench b;
  const auto x = b.random("x", {3, 4}, 3);
  const auto xs = b.values("x");
  std::vector<double> want;
  const auto each = [&](auto&& f) {
    want.clear();
    for (const double v : xs) want.push_back(f(v));
    return want;
  };
  expect_near(b.run(exp(x)), each([](double v) { return std::exp(v); }));
  expect_near(b.run(cos(x)), each([](double v) { return std::cos(v); }));
  expect_near(b.run(tanh(x)), each([](double v) { return std::tanh(v); }));
  expect_near(b.run(silu(x)), each([](double v) { return v / (1 + std::exp(-v)); }));
  expect_near(b.run(gelu_tanh(x)), each([](double v) {
                return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
              }));
  expect_near(b.run(relu(x)), each([](double v) { return std::max(v, 0.0); }));
  expect_near(b.run(log(x * x)), each([](double v) { return std::log(v * v); }));
  expect_near(b.run(min(x, x.like(0.5))), each([](double v) { return std::min(v, 0.5); }));

  const auto rows_of = [&](auto&& f) {
    want.clear();
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<double> row(xs.begin() + static_cast<std::ptrdiff_t>(4 * i),
                              xs.begin() + static_cast<std::ptrdiff_t>(4 * i + 4));
      f(row);
      want.insert(want.end(), row.begin(), row.end());
    }
    return want;
  };
  expect_near(b.run(softmax(x)), rows_of([](std::vector<double>& r) {
                double sum = 0;
                for (auto& v : r) sum += v = std::exp(v);
                for (auto& v : r) v /= sum;
              }));
  const auto weight = b.input("weight", DType::kF64, {4}, {1, 2, 3, 4});
  expect_near(b.run(rms_norm(x, weight, 1e-5)), rows_of([](std::vector<double>& r) {
                double sum = 0;
                for (const auto v : r) sum += v * v;
                for (std::size_t i = 0; i < 4; ++i)
                  r[i] *= static_cast<double>(i + 1) / std::sqrt(sum / 4 + 1e-5);
              }));
  expect_near(b.run(layer_norm(x, weight, weight, 1e-5)), rows_of([](std::vector<double>& r) {
                double mean = 0, sum = 0;
                for (const auto v : r) mean += v / 4;
                for (const auto v : r) sum += (v - mean) * (v - mean);
                for (std::size_t i = 0; i < 4; ++i) {
                  const double w = static_cast<double>(i + 1);
                  r[i] = (r[i] - mean) / std::sqrt(sum / 4 + 1e-5) * w + w;
                }
              }));
  expect_near(b.run(cumulative_sum(x, 1)), rows_of([](std::vector<double>& r) {
                for (std::size_t i = 1; i < 4; ++i) r[i] += r[i - 1];
              }));
}

TEST(Interpret, RowsPadsAndConcats) {
  Bench b;
  const auto table = b.input("table", DType::kF32, {3, 2}, {0, 1, 10, 11, 20, 21});
  const auto index = b.input("index", DType::kI32, {2, 1}, {2, 0});
  EXPECT_EQ(b.run(rows(table, index)), (std::vector<double>{20, 21, 0, 1}));
  EXPECT_EQ(b.run(pad(table, 1, 1, 2, -1)),
            (std::vector<double>{-1, 0, 1, -1, -1, -1, 10, 11, -1, -1, -1, 20, 21, -1, -1}));
  EXPECT_EQ(b.run(pad(table, 0, 1, 0, 7)), (std::vector<double>{7, 7, 0, 1, 10, 11, 20, 21}));
  const auto more = b.input("more", DType::kF32, {1, 2}, {kInf, 5});
  EXPECT_EQ(b.run(concat({table, more, table}, 0)),
            (std::vector<double>{0, 1, 10, 11, 20, 21, kInf, 5, 0, 1, 10, 11, 20, 21}));
  EXPECT_EQ(b.run(concat({table, table}, -1)),
            (std::vector<double>{0, 1, 0, 1, 10, 11, 10, 11, 20, 21, 20, 21}));
}

// A cache that is empty at first, with what follows on it, along either axis.
TEST(Interpret, PadsAndConcatsOfWhatCanBeEmpty) {
  for (const std::int64_t cached : {0, 1, 2}) {
    for (const int axis : {0, 1}) {
      Graph g;
      const Dim p = g.symbol("p", 0, 4);
      const auto cache = GraphTensor::input(
          g, "cache", DType::kF32, axis == 0 ? std::vector<Dim>{p, 2} : std::vector<Dim>{2, p});
      const auto more = GraphTensor::input(g, "more", DType::kF32, {2, 2});
      concat({cache, more}, axis).set_output("joined");
      pad(cache, axis, 1, 0, 9).set_output("padded");
      Tensor x(DType::kF32, axis == 0 ? Shape({cached, 2}) : Shape({2, cached}));
      Tensor y(DType::kF32, Shape({2, 2}));
      std::ranges::fill(x.as<float>(), 5.0F);
      std::ranges::fill(y.as<float>(), 7.0F);
      const auto found = interpret(g, {{"cache", x.view()}, {"more", y.view()}}, {{"p", cached}});
      // Column by column along the second axis.
      const auto is = [&](const char* name, std::int64_t line, float value) {
        const auto& tensor = found.at(name);
        for (const std::int64_t i : {0, 1}) {
          const auto width = axis == 0 ? 2 : tensor.element_count() / 2;
          const auto at = axis == 0 ? line * width + i : i * width + line;
          EXPECT_EQ(tensor.as<float>()[static_cast<std::size_t>(at)], value)
              << name << " " << line << " of axis " << axis << ", " << cached;
        }
      };
      for (std::int64_t line = 0; line < cached + 2; ++line)
        is("joined", line, line < cached ? 5 : 7);
      for (std::int64_t line = 0; line < cached + 1; ++line) is("padded", line, line == 0 ? 9 : 5);
    }
  }
}

TEST(Interpret, SymbolsAndInputsAreChecked) {
  Bench b;
  const Dim s = b.graph.symbol("s", 1, 4);
  const auto x = GraphTensor::input(b.graph, "x", DType::kF32, {s});
  x.sum(0).set_output("y");
  Tensor three(DType::kF32, Shape({3}));
  for (float& v : three.as<float>()) v = 2;
  EXPECT_EQ(interpret(b.graph, {{"x", three.view()}}, {{"s", 3}}).at("y").as<float>()[0], 6);
  EXPECT_THROW(interpret(b.graph, {{"x", three.view()}}, {{"s", 2}}), UserError);
  EXPECT_THROW(interpret(b.graph, {{"x", three.view()}}, {{"s", 5}}), UserError);
  EXPECT_THROW(interpret(b.graph, {{"x", three.view()}}, {}), UserError);
  EXPECT_THROW(interpret(b.graph, {}, {{"s", 3}}), UserError);
  EXPECT_THROW(interpret(b.graph, {{"x", three.view()}, {"z", three.view()}}, {{"s", 3}}),
               UserError);
}

// What holds others to f64 adds better than they do.
TEST(Interpret, SumsInF64AreOffByTheirLastRounding) {
  constexpr std::int64_t kCount = 100'000;
  Graph g;
  const auto x = GraphTensor::input(g, "x", DType::kF64, {1});
  const auto repeated = x.expand(0, kCount);
  repeated.sum(0).set_output("sum");
  (repeated * repeated).sum(0).set_output("products");
  Tensor given(DType::kF64, Shape({1}));
  given.as<double>()[0] = 1.9351805339411585;
  const auto outputs = interpret(g, {{"x", given.view()}}, {});
  const double value = given.as<double>()[0];
  EXPECT_DOUBLE_EQ(outputs.at("sum").as<double>()[0], value * kCount);
  EXPECT_DOUBLE_EQ(outputs.at("products").as<double>()[0], value * value * kCount);
}

// Products and gathers that widen an input as they read it compute what they do with one that was
// widened before.
TEST(Interpret, InputsAreWidenedWhereTheyAreRead) {
  for (const auto from : {DType::kBF16, DType::kF16, DType::kF32}) {
    for (const auto to : {DType::kF32, DType::kF64}) {
      if (from == to) continue;
      Bench bench;
      std::vector<double> values(35);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::sin(static_cast<double>(i)) * 3;
      }
      values[4] = kInf;
      values[11] = kNan;
      values[12] = -0.0;
      const auto table = bench.input("table", from, {5, 7}, values);
      const auto rows = bench.input("rows", DType::kI64, {3}, {4, 0, 2});
      auto x = bench.random("x", {2, 7}, 3).cast(to), z = bench.random("z", {2, 5}, 4).cast(to);
      // Nothing is added, but by an addition, which must have it whole.
      const auto wide = table.cast(to), made = table.cast(to) + -0.0;
      using testing::NanSensitiveDoubleEq;
      const auto expect_same = [&](const GraphTensor& a, const GraphTensor& b) {
        const auto of_a = bench.run(a), of_b = bench.run(b);
        ASSERT_EQ(of_a.size(), of_b.size());
        for (std::size_t i = 0; i < of_a.size(); ++i) {
          EXPECT_THAT(of_a[i], NanSensitiveDoubleEq(of_b[i]));
        }
      };
      expect_same(matmul(x, wide.transpose()), matmul(x, made.transpose()));
      expect_same(matmul(z, wide), matmul(z, made));
      expect_same(gather(wide, rows), gather(made, rows));
    }
  }
}

}  // namespace
}  // namespace assay::compiler
