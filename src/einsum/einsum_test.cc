// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/einsum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "einsum/plan/explain.h"
#include "einsum/testing/example_operands.h"
#include "tensor/fill.h"

namespace assay::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  for (std::int64_t i = 0; i < a.element_count(); ++i) {
    ASSERT_NEAR(std::abs(value_as_complex(a.view(), i) - value_as_complex(b.view(), i)), 0,
                tolerance)
        << i;
  }
}

TEST(Engine, AlphaBetaAndOutOfAnyStrides) {
  Engine engine;
  const auto a = filled(DType::kF64, Shape({5, 6}), 1), b = filled(DType::kF64, Shape({6, 7}), 2);
  Tensor storage = filled(DType::kF64, Shape({7, 10}), 3);
  const Tensor before = Tensor::copy(storage.view());
  const auto out = storage.mutable_view().slice(1, 0, 10, 2).transpose();  // 5 × 7
  engine.einsum_into("ij,jk->ik", std::vector<TensorView>{a.view(), b.view()}, out,
                     {.alpha = 2.0, .beta = -0.5});
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t k = 0; k < 7; ++k) {
      double sum = 0;
      for (std::int64_t j = 0; j < 6; ++j)
        sum += a.view().at<double>(i, j) * b.view().at<double>(j, k);
      // Six products and two scalings: far below 100 roundings of numbers below 12.
      EXPECT_NEAR(out.at<double>(i, k), 2 * sum - 0.5 * before.view().at<double>(k, 2 * i),
                  12 * 100 * 0x1p-53);
      EXPECT_EQ(storage.view().at<double>(k, 2 * i + 1), before.view().at<double>(k, 2 * i + 1));
    }
  }
}

TEST(Engine, WithBetaZeroOutIsNotRead) {
  Engine engine;
  for (const char* e : {"ij,jk->ik", "ij,jk->ki", "ij,ij->ij", "ij->ji", "ij,jk->", "i,j->ij"}) {
    const auto p = parse_notation(e);
    std::vector<Tensor> in;
    for (const auto& term : p.inputs)
      in.push_back(filled(DType::kF32, Shape(std::vector<std::int64_t>(term.size(), 4)), 1));
    const auto views = views_of(in);
    const auto plan = engine.plan(e, views);
    Tensor out(DType::kF32, plan->output_shape());
    for (float& x : out.as<float>()) x = std::nanf("");
    engine.einsum_into(e, views, out.mutable_view());
    for (const float x : out.as<float>()) EXPECT_TRUE(std::isfinite(x)) << e;
  }
}

TEST(Engine, NanAndInfinityGoThrough) {
  Engine engine;
  auto a = filled(DType::kF64, Shape({3, 3}), 1);
  a.as<double>()[4] = std::nan("");
  a.as<double>()[8] = INFINITY;
  const auto c = engine.einsum("ij,j->i", {a.view(), filled(DType::kF64, Shape({3}), 2).view()});
  EXPECT_TRUE(std::isfinite(c.as<double>()[0]));
  EXPECT_TRUE(std::isnan(c.as<double>()[1]));
  EXPECT_TRUE(std::isinf(c.as<double>()[2]));
}

TEST(Engine, Bf16IsSummedInF32) {
  // 4096 ones: a bf16 sum would stop at 256.
  Tensor ones(DType::kBF16, Shape({4096}));
  for (auto& x : ones.as<BFloat16>()) x = BFloat16(1.0f);
  Engine engine;
  const auto sum = engine.einsum("i,i->", {ones.view(), ones.view()});
  EXPECT_EQ(sum.dtype(), DType::kBF16);
  EXPECT_EQ(value_as_double(sum.view(), 0), 4096);
  const auto wide = engine.einsum("i,i->", {ones.view(), ones.view()}, {.dtype = DType::kF32});
  EXPECT_EQ(wide.dtype(), DType::kF32);
}

TEST(Engine, PrecisionDoubleSumsF32InF64) {
  const auto a = filled(DType::kF32, Shape({100000}), 1),
             b = filled(DType::kF32, Shape({100000}), 2);
  Engine engine;
  double right = 0;
  for (std::size_t i = 0; i < 100000; ++i)
    right += static_cast<double>(a.as<float>()[i]) * static_cast<double>(b.as<float>()[i]);
  const auto sum = engine.einsum("i,i->", {a.view(), b.view()}, {.precision = Precision::kDouble});
  EXPECT_EQ(sum.as<float>()[0], static_cast<float>(right));
}

TEST(Engine, RefusalsOfRuns) {
  Engine engine;
  const auto a = filled(DType::kF64, Shape({3, 3}), 1);
  const Tensor integers(DType::kI32, Shape({3})), complex(DType::kC64, Shape({3}));
  const auto refuses = [&](auto&& f, const char* message) {
    EXPECT_THAT(f, ThrowsMessage<UserError>(HasSubstr(message)));
  };
  const std::vector<TensorView> one = {a.view()};
  refuses([&] { engine.einsum("i->", {integers.view()}); }, "operand 0 has dtype i32");
  refuses([&] { engine.einsum("i->", {complex.view()}, {.dtype = DType::kF32}); },
          "no real result");
  refuses([&] { engine.einsum("ij->", one, {.beta = 1.0}); }, "beta needs an out");
  refuses([&] { engine.einsum("ij->", one, {.dtype = DType::kI8}); }, "not i8");
  Tensor out(DType::kF64, Shape({3}));
  refuses([&] { engine.einsum_into("ij->ij", one, out.mutable_view()); },
          "the result has shape 3x3, but out has 3");
  Tensor narrow(DType::kF32, Shape({3}));
  refuses([&] { engine.einsum_into("ij->i", one, narrow.mutable_view()); },
          "the result is f64, but out is f32");
  refuses(
      [&] {
        engine.einsum_into("ij->i", one, out.mutable_view(), {.alpha = {0, 1}});
      },
      "alpha is complex");
  Tensor both = filled(DType::kF64, Shape({3, 3}), 4);
  const std::vector<TensorView> itself = {both.view()};
  refuses([&] { engine.einsum_into("ij->ji", itself, both.mutable_view()); },
          "out shares memory with operand 0");
  const MutableTensorView repeated(DType::kF64, both.as<double>().data(), Shape({3}), {0});
  refuses([&] { engine.einsum_into("ij->i", one, repeated); }, "elements of out overlap");
  const auto plan = engine.plan("ij->i", one);
  Workspace w;
  refuses([&] { plan->run(std::vector<TensorView>{a.view().transpose()}, w); },
          "other strides than in the plan");
  refuses([&] { plan->run(std::vector<TensorView>{}, w); }, "the plan is for 1 operands, but 0");
  refuses([&] { backend_from_name("gpu"); }, "not 'gpu'");
  EXPECT_EQ(backend_from_name("cuda"), Backend::kCuda);
  refuses([&] { objective_from_name("speed"); }, "not 'speed'");
}

TEST(Engine, TheEnvironmentForcesABackend) {
  ::setenv("ASSAY_EINSUM_BACKEND", "reference", 1);
  Engine engine(EngineOptions::from_environment());
  EXPECT_EQ(engine.get_backend(), Backend::kReference);
  const auto a = filled(DType::kF32, Shape({4, 4}), 1);
  Tensor out(DType::kF32, Shape({4, 4}));
  const std::vector<TensorView> in = {a.view(), a.view()};
  EXPECT_EQ(engine.einsum_into("ij,jk->ik", in, out.mutable_view()).counters.reference_calls, 1);
  engine.set_backend(Backend::kBlas);
  EXPECT_EQ(engine.einsum_into("ij,jk->ik", in, out.mutable_view()).counters.reference_calls, 0);
  ::setenv("ASSAY_EINSUM_BACKEND", "cuda", 1);
  // An engine of the processor's has no such thing, and does not fall back.
  Engine other(EngineOptions::from_environment());
  EXPECT_THROW(other.einsum_into("ij,jk->ik", in, out.mutable_view()), UserError);
  ::unsetenv("ASSAY_EINSUM_BACKEND");
}

TEST(Engine, InterleavedAndMultiEinsum) {
  Engine engine;
  const auto a = filled(DType::kF64, Shape({20, 30}), 1),
             b = filled(DType::kF64, Shape({30, 40}), 2),
             c = filled(DType::kF64, Shape({40, 60}), 3);
  const std::vector<std::vector<std::int32_t>> labels = {{0, 1}, {1, 2}};
  const auto direct = engine.einsum("ij,jk->ik", {a.view(), b.view()});
  const auto interleaved = engine.einsum(labels, std::vector<TensorView>{a.view(), b.view()},
                                         std::vector<std::int32_t>{0, 2});
  expect_near(direct, interleaved, 0);
  // ij,jk is in all three, and with kl after it in two: three contractions are not made again.
  const std::vector<TensorView> common = {a.view(), b.view(), c.view()};
  const std::vector<SharedExpression> several = {
      {"ij,jk,kl->il", {0, 1, 2}}, {"xy,yz,zw->wx", {0, 1, 2}}, {"ij,jk->ik", {0, 1}}};
  MultiReport report;
  const auto results = engine.multi_einsum(several, common, &report);
  EXPECT_EQ(report.saved, 3);
  ASSERT_EQ(results.size(), 3u);
  expect_near(results[0], engine.einsum("ij,jk,kl->il", common), 1e-12);
  expect_near(results[1], engine.einsum("ij,jk,kl->li", common), 1e-12);
  expect_near(results[2], direct, 0);
  EXPECT_THAT(
      [&] {
        engine.multi_einsum(std::vector<SharedExpression>{{"i", {5}}}, common);
      },
      ThrowsMessage<UserError>(HasSubstr("common operand 5, but there are 3")));
}

TEST(Plan, EveryRowOfTheTableRunsAndCountsItsWork) {
  // The smaller rows in full against the plain loops' own answer by another order.
  Engine engine;
  for (const auto& row : planner_table()) {
    if (row.min_mac > 2e7) continue;
    const auto tensors = operands_of(row.expression, row.extents);
    const auto views = views_of(tensors);
    const auto plan = engine.plan(row.expression, views, {.objective = Objective::kMac});
    EXPECT_EQ(plan->mac, row.min_mac) << row.expression;
    EXPECT_TRUE(plan->path.optimal);
    const auto one = engine.einsum(row.expression, views, {.objective = Objective::kMac});
    const auto two = engine.einsum(row.expression, views, {.objective = Objective::kWrite});
    double largest = 0;
    for (const double x : one.as<double>()) largest = std::max(largest, std::abs(x));
    // Two orders of summation of at most 1e8 terms of size below 1 per element.
    expect_near(one, two, 1e-9 * std::max(1.0, largest));
  }
}

TEST(Plan, KeepsToTheMemoryBoundWithTheSameResult) {
  // Unbounded, the outer product of two matrices is 1 GiB; the bound forces slices.
  const std::string e = "ab,cd,ac,bd->";
  const std::vector<std::int64_t> extents = {96, 96, 96, 96};
  const auto tensors = operands_of(e, extents);
  const auto views = views_of(tensors);
  Engine engine;
  const auto free = engine.einsum(e, views);
  for (const std::uint64_t bound : {std::uint64_t{1} << 20, std::uint64_t{400} << 10}) {
    const CallOptions options{.memory = bound};
    const auto plan = engine.plan(e, views, options);
    Tensor out(DType::kF64, Shape());
    const auto report = engine.einsum_into(e, views, out.mutable_view(), options);
    EXPECT_LE(report.peak_bytes, bound);
    EXPECT_LE(plan->peak_bytes, static_cast<double>(bound));
    EXPECT_NEAR(out.as<double>()[0], free.as<double>()[0],
                1e-8 * std::abs(free.as<double>()[0]) + 1e-8);
  }
  EXPECT_THAT([&] { engine.plan(e, views, {.memory = 1000}); },
              ThrowsMessage<UserError>(HasSubstr("operands and result alone take")));
}

TEST(Plan, SixtyFourMebibytesSufficeWhereOneGibibyteWasNeeded) {
  // Four tensors, each pair with a common label: every order makes a result of 108⁴ f64.
  const std::string e = "abc,cfd,dbe,efa->";
  const auto tensors = operands_of(e, std::vector<std::int64_t>(6, 108));
  const auto views = views_of(tensors);
  Engine engine;
  EXPECT_GE(engine.plan(e, views)->peak_bytes, 0x1p30);
  const auto right = engine.einsum(e, views);
  Tensor out(DType::kF64, Shape());
  const std::uint64_t bound = 64 << 20;
  const auto report = engine.einsum_into(e, views, out.mutable_view(), {.memory = bound});
  EXPECT_LE(report.peak_bytes, bound);
  // 108⁶ products of numbers below 1, added in two orders; errors of blocked sums grow like √terms.
  EXPECT_NEAR(out.as<double>()[0], right.as<double>()[0], 1e-11 * std::pow(108, 3));
}

TEST(Plan, AHeuristicPlanSaysSoAndRuns) {
  // Twenty matrices in a chain: beyond the exact limit.
  std::string e;
  std::vector<std::int64_t> extents = {3};
  for (int i = 0; i < 20; ++i) {
    e += (i == 0 ? "" : ",") + std::string("{") + std::to_string(i) + "}{" + std::to_string(i + 1) +
         "}";
    extents.push_back(2 + (7 * i) % 5);
  }
  e += "->{0}{20}";
  const auto tensors = operands_of(e, extents);
  Engine engine;
  const auto plan = engine.plan(e, views_of(tensors));
  EXPECT_FALSE(plan->path.optimal);
  EXPECT_THAT(explain_text(*plan), HasSubstr("lower bound"));
  Workspace w;
  const auto c = plan->run(views_of(tensors), w);
  auto right = Tensor::copy(tensors[0].view());
  for (std::size_t i = 1; i < tensors.size(); ++i)
    right = engine.einsum("ij,jk->ik", {right.view(), tensors[i].view()});
  double largest = 0;
  for (const double x : right.as<double>()) largest = std::max(largest, std::abs(x));
  expect_near(c, right, 1e-12 * largest);
}

TEST(Explain, NamesTheBackendAndKernelThatRan) {
  Engine engine;
  struct Row {
    const char* expression;
    std::vector<std::int64_t> extents;
  };
  for (const auto& row : {Row{"bij,bjk->bik", {4, 32, 32, 32}}, Row{"ij,jk->ki", {64, 64, 64}},
                          Row{"abcd,dbea->ec", {8, 12, 10, 6, 14}}, Row{"ij,jk->ik", {3, 2, 3}},
                          Row{"i,i->", {100}}, Row{"i,j->ij", {30, 40}}, Row{"ij,j->i", {50, 60}},
                          Row{"ij->ji", {20, 30}}, Row{"ij,kj,kl->il", {20, 30, 40, 10}}}) {
    const auto tensors = operands_of(row.expression, row.extents, DType::kF32);
    const auto views = views_of(tensors);
    const auto plan = engine.plan(row.expression, views);
    Tensor out(plan->result, plan->output_shape());
    Workspace w;
    const auto report = plan->run_into(views, out.mutable_view(), w, {.analyze = true});
    const auto json = explain(*plan, &report);
    EXPECT_EQ(json["backend"], "blas");
    EXPECT_EQ(report.counters.reference_calls, 0);
    std::map<std::string, int> named;
    for (const auto& step : json["steps"]) {
      EXPECT_EQ(step["kernel"], step["measured_kernel"]) << row.expression;
      ++named[step["kernel"].get<std::string>()];
      for (const char* key : {"operands", "expression", "backend", "m", "n", "k", "batch", "mac",
                              "bytes", "copies", "predicted_s", "band", "runner_up"}) {
        EXPECT_TRUE(step.contains(key)) << key;
      }
    }
    for (int k = 0; k < kKernels; ++k) {
      const auto kernel = static_cast<Kernel>(k);
      EXPECT_EQ(report.counters.of(kernel), named[std::string(name_of(kernel))]) << row.expression;
    }
    EXPECT_EQ(report.peak_bytes, static_cast<std::size_t>(plan->peak_bytes)) << row.expression;
  }
}

}  // namespace
}  // namespace assay::einsum
