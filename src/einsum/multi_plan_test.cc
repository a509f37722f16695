// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/multi_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include "einsum/einsum.h"
#include "einsum/testing/example_operands.h"

namespace assay::einsum {
namespace {

std::int64_t step_runs(const Counters& counters) {
  return std::accumulate(counters.kernels.begin(), counters.kernels.end(), std::int64_t{0});
}

// Real and imaginary parts.
std::vector<double> numbers(const Tensor& t) {
  std::vector<double> all;
  if (t.dtype() == DType::kC64) {
    for (const auto v : t.as<std::complex<float>>()) all.insert(all.end(), {v.real(), v.imag()});
    return all;
  }
  for (std::int64_t i = 0; i < t.element_count(); ++i) {
    all.push_back(value_as_double(t.view(), i));
  }
  return all;
}

// Runs the expressions together and each alone; results must agree to `relative` of the largest
// entry. Returns the report, with the number of steps that ran alone.
std::pair<MultiReport, std::int64_t> compare(Engine& engine,
                                             const std::vector<SharedExpression>& expressions,
                                             const std::vector<Tensor>& operands, double relative) {
  const auto views = views_of(operands);
  MultiReport report;
  const auto together = engine.multi_einsum(expressions, views, &report);
  EXPECT_EQ(together.size(), expressions.size());
  std::int64_t alone = 0;
  for (std::size_t e = 0; e < expressions.size(); ++e) {
    std::vector<TensorView> own;
    for (const auto i : expressions[e].operands) own.push_back(views[i]);
    const auto plan = engine.plan(expressions[e].expression, own);
    Tensor right(plan->result, plan->output_shape());
    alone += step_runs(
        engine.einsum_into(expressions[e].expression, own, right.mutable_view()).counters);
    EXPECT_EQ(together[e].dtype(), right.dtype()) << expressions[e].expression;
    EXPECT_TRUE(together[e].shape() == right.shape()) << expressions[e].expression;
    const auto a = numbers(together[e]), b = numbers(right);
    double largest = 0;
    for (const double v : b) largest = std::max(largest, std::abs(v));
    double off = 0;
    for (std::size_t i = 0; i < b.size(); ++i) off = std::max(off, std::abs(a[i] - b[i]));
    EXPECT_LE(off, relative * largest) << expressions[e].expression;
  }
  EXPECT_LE(report.predicted_s, report.separate_s * (1 + 1e-12));
  return {report, alone};
}

std::vector<Tensor> tensors(const std::vector<Shape>& shapes, DType dtype = DType::kF64) {
  std::vector<Tensor> all;
  for (const auto& s : shapes) all.push_back(filled(dtype, s, all.size() + 1));
  return all;
}

TEST(MultiPlan, ThreeMttkrpShareAProductWithTheTensor) {
  // Alone, each is two steps. The first two can begin with ijk,kr (or another pair of them with
  // another factor); the third has no product with the tensor left to share.
  const std::vector<SharedExpression> family = {
      {"ijk,jr,kr->ir", {0, 2, 3}}, {"ijk,ir,kr->jr", {0, 1, 3}}, {"ijk,ir,jr->kr", {0, 1, 2}}};
  Engine engine;
  const auto x = tensors({Shape({24, 26, 28}), Shape({24, 8}), Shape({26, 8}), Shape({28, 8})});
  const auto [report, alone] = compare(engine, family, x, 1e-12);
  EXPECT_EQ(alone, 6);
  EXPECT_EQ(report.shared, 1u);
  EXPECT_EQ(report.saved, 1);
  EXPECT_EQ(step_runs(report.counters), 5);
  EXPECT_LT(report.predicted_s, 0.85 * report.separate_s);
}

TEST(MultiPlan, GoesAnotherWayWhereThatCanBeShared) {
  // Alone, ab,bc,cd is cheapest from the right, since d is shorter than a; as the first product
  // ab,bc->ac is what the other two need anyway, it is then cheaper to go on from there.
  Engine engine;
  const auto x = tensors({Shape({60, 60}), Shape({60, 60}), Shape({60, 50}), Shape({60, 300})});
  const std::vector<SharedExpression> several = {
      {"ab,bc,cd->ad", {0, 1, 2}}, {"ab,bc,ce->ae", {0, 1, 3}}, {"ab,bc->ca", {0, 1}}};
  std::vector<TensorView> first = {x[0].view(), x[1].view(), x[2].view()};
  const auto own = engine.plan("ab,bc,cd->ad", first);
  ASSERT_EQ(own->steps[0].operands, (std::vector<int>{1, 2})) << "the case is not what it was";
  const auto [report, alone] = compare(engine, several, x, 1e-12);
  EXPECT_EQ(report.shared, 1u);
  EXPECT_EQ(report.saved, 2);
  EXPECT_EQ(step_runs(report.counters), 4);  // ac once, two products with it, one transposition
  EXPECT_EQ(alone, 5);
}

TEST(MultiPlan, NothingInCommonIsLeftAlone) {
  Engine engine;
  const auto x = tensors({Shape({9, 8}), Shape({8, 7}), Shape({7, 6}), Shape({6, 5})});
  const auto [report, alone] = compare(
      engine, {{"ij,jk->ik", {0, 1}}, {"kl,lm->km", {2, 3}}, {"ij,kj->ik", {0, 0}}}, x, 1e-13);
  EXPECT_EQ(report.shared, 0u);
  EXPECT_EQ(report.saved, 0);
  EXPECT_EQ(step_runs(report.counters), alone);
  EXPECT_DOUBLE_EQ(report.predicted_s, report.separate_s);
  // The same operands, but other labels are summed.
  const auto [other, _] = compare(engine, {{"ij,jk->ik", {0, 1}}, {"ij,jk->i", {0, 1}}}, x, 1e-13);
  EXPECT_EQ(other.shared, 0u);
}

TEST(MultiPlan, SharesWithinOneExpressionAndDeeperThanAPair) {
  Engine engine;
  // ij,jk occurs twice in the first; with kl after it, it is three operands deep in the others.
  const auto x = tensors({Shape({40, 41}), Shape({41, 42}), Shape({42, 43}), Shape({43, 5})});
  const auto [report, alone] = compare(engine,
                                       {{"ij,jk,im,mk->", {0, 1, 0, 1}},
                                        {"ij,jk,kl,ln->in", {0, 1, 2, 3}},
                                        {"ij,jk,kl,ln->ni", {0, 1, 2, 3}}},
                                       x, 1e-11);
  EXPECT_GE(report.saved, 3);
  EXPECT_LT(step_runs(report.counters), alone);
}

TEST(MultiPlan, KeepsDtypesDiagonalsAndBroadcasts) {
  Engine engine;
  std::vector<Tensor> x;
  x.push_back(filled(DType::kBF16, Shape({20, 30}), 1));
  x.push_back(filled(DType::kBF16, Shape({30, 25}), 2));
  x.push_back(filled(DType::kBF16, Shape({25, 6}), 3));
  x.push_back(filled(DType::kBF16, Shape({25, 6}), 4));
  x.push_back(filled(DType::kF64, Shape({25, 6}), 5));
  x.push_back(filled(DType::kC64, Shape({25, 6}), 6));
  // Results are rounded to bf16 (2⁻⁸) after sums in f32, in another order.
  const auto [narrow, _] =
      compare(engine, {{"ij,jk,kl->il", {0, 1, 2}}, {"ij,jk,kl->il", {0, 1, 3}}}, x, 0x1p-7);
  (void)narrow;
  // One of them is computed in f64, one is complex: nothing may be lost by sharing.
  compare(engine,
          {{"ij,jk,kl->il", {0, 1, 4}},
           {"ij,jk,kl->li", {0, 1, 4}},
           {"ij,jk,kl->il", {0, 1, 5}},
           {"ij,jk,kl->l", {0, 1, 5}}},
          x, 1e-5);
  const auto wide =
      compare(engine, {{"ij,jk,kl->il", {0, 1, 4}}, {"ij,jk,kl->li", {0, 1, 4}}}, x, 1e-13);
  EXPECT_GE(wide.first.saved, 1);
  const auto y = tensors({Shape({30, 30}), Shape({30, 1, 20}), Shape({4, 20}), Shape({30})});
  compare(engine,
          {{"ii,ijk,lk->jl", {0, 1, 2}}, {"ii,ijk,i->kj", {0, 1, 3}}, {"ii,i...->...", {0, 1}}}, y,
          1e-12);
  compare(engine, {{"ij,j...k->i...k", {0, 1}}, {"ij,jmk,lk->iml", {0, 1, 2}}}, y, 1e-12);
}

TEST(MultiPlan, ReferenceBackendEmptyExtentsAndNoExpressions) {
  Engine reference({.backend = Backend::kReference});
  const auto x = tensors({Shape({3, 4}), Shape({4, 5}), Shape({5, 0})});
  const std::vector<SharedExpression> several = {{"ij,jk->ik", {0, 1}}, {"ij,jk->ki", {0, 1}}};
  EXPECT_EQ(compare(reference, several, x, 0).first.counters.reference_calls, 2);
  Engine engine;
  compare(engine, {{"ij,jk,kl->il", {0, 1, 2}}, {"ij,jk,kl->", {0, 1, 2}}}, x, 0);
  EXPECT_TRUE(engine.multi_einsum({}, views_of(x)).empty());
}

}  // namespace
}  // namespace assay::einsum
