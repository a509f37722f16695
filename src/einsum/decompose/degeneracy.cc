// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/degeneracy.h"

#include <algorithm>
#include <cmath>

namespace assay::einsum {
namespace {

// Two components whose cosine is below this cancel. They are on their way to infinity if the cosine
// fell and the largest weight grew by this factor, both from a quarter of the sweeps to half of
// them and from there to the end: what has merely not converged may cancel for a while, and turns
// back.
constexpr double kCancelling = -0.8, kGrowth = 1.05;
constexpr std::size_t kTellingSweeps = 50;  // fewer do not tell

}  // namespace

template <typename T>
CpState cp_state(const std::vector<T>& weights, const Matrix<T>& cosines) {
  CpState state;
  for (const T w : weights) {
    state.largest_weight = std::max(state.largest_weight, static_cast<double>(w));
  }
  for (std::int64_t r = 0; r < cosines.rows; ++r) {
    for (std::int64_t s = 0; s < r; ++s) {
      state.lowest_cosine = std::min(state.lowest_cosine, static_cast<double>(cosines(r, s)));
    }
  }
  return state;
}

bool is_degenerate(const std::vector<CpState>& sweeps, double norm) {
  if (sweeps.size() < kTellingSweeps) return false;
  const CpState &quarter = sweeps[sweeps.size() / 4], &half = sweeps[sweeps.size() / 2],
                &end = sweeps.back();
  const auto runs_away = [](const CpState& from, const CpState& to) {
    return to.largest_weight > kGrowth * from.largest_weight &&
           to.lowest_cosine < from.lowest_cosine;
  };
  return end.lowest_cosine < kCancelling && end.largest_weight > norm && runs_away(quarter, half) &&
         runs_away(half, end);
}

template <typename T>
double congruence(const Matrix<T>& cosines) {
  double furthest = 0;
  for (std::int64_t r = 0; r < cosines.rows; ++r) {
    for (std::int64_t s = 0; s < r; ++s) {
      const double cosine = cosines(r, s);
      if (std::abs(cosine) > std::abs(furthest)) furthest = cosine;
    }
  }
  return furthest;
}

template CpState cp_state(const std::vector<float>&, const Matrix<float>&);
template CpState cp_state(const std::vector<double>&, const Matrix<double>&);
template double congruence(const Matrix<float>&);
template double congruence(const Matrix<double>&);

}  // namespace assay::einsum
