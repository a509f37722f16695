// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// assay::semiring: one product, several algebras. Over (min, +) it finds shortest ways; over
// (log Σ exp, +) it sums the weights of all ways, and its gradient says how many take which road.
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "semiring/ell.h"
#include "semiring/grad.h"
#include "semiring/matmul.h"

namespace sr = assay::semiring;
using assay::DType;
using assay::Tensor;

int main() {
  constexpr int kTowns = 5;
  constexpr float kNoRoad = std::numeric_limits<float>::infinity();
  constexpr float kHours[kTowns * kTowns] = {0,       3,       8, kNoRoad, kNoRoad,  //
                                             3,       0,       2, 5,       kNoRoad,  //
                                             8,       2,       0, 1,       6,        //
                                             kNoRoad, 5,       1, 0,       2,        //
                                             kNoRoad, kNoRoad, 6, 2,       0};
  Tensor roads(DType::kF32, {kTowns, kTowns});
  std::ranges::copy(kHours, roads.as<float>().begin());
  const sr::MatmulOptions fast = {.backend = sr::Backend::kSimd};

  // Each squaring doubles the number of roads that a way may have.
  Tensor ways = Tensor::copy(roads.view());
  for (int longest = 1; longest < kTowns - 1; longest *= 2) {
    ways = sr::matmul(sr::Algebra::kMinPlus, ways.view(), ways.view(), fast);
  }
  std::printf("shortest way from town 0 to town 4: %g hours\n", ways.view().at<float>(0, 4));

  // A map has few roads for each town: neighbour lists do, −1 where there is none. From towns 0 and
  // 1:
  Tensor hours(DType::kF32, {2, 2}), to(DType::kI32, {2, 2}), best(DType::kF32, {2, 1});
  std::ranges::copy(std::array{3.0F, 8.0F, 2.0F, 0.0F}, hours.as<float>().begin());
  std::ranges::copy(std::array{1, 2, 2, -1}, to.as<std::int32_t>().begin());
  const auto on_to_4 = ways.view().slice(1, 4, 5);
  sr::ell_matmul(sr::Algebra::kMinPlus, hours.view(), to.view(), on_to_4, best.mutable_view());
  std::printf("by their roads: %g and %g hours\n", best.as<float>()[0], best.as<float>()[1]);

  // Travellers choose among all ways of two roads with probability ∝ exp(−hours).
  Tensor weight = Tensor::copy(roads.view());
  for (float& w : weight.as<float>()) w = -w;
  const Tensor sum = sr::matmul(sr::Algebra::kLog, weight.view(), weight.view(), fast);
  Tensor only_0_to_3(DType::kF32, {kTowns, kTowns});
  only_0_to_3.mutable_view().at<float>(0, 3) = 1;
  const auto share = sr::matmul_gradients(sr::Algebra::kLog, weight.view(), weight.view(),
                                          sum.view(), only_0_to_3.view(), fast);
  for (const int via : {1, 2}) {
    std::printf("from 0 to 3 over %d: %.1f %%\n", via, 100 * share.a.view().at<float>(0, via));
  }
}
