// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/noise_budget.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "lab/stats/random.h"

namespace assay::lab {
namespace {

struct Sums {
  double n = 0, mean = 0, squares = 0;  // squares: of deviations from the mean (Welford)
  void add(double x) {
    n += 1;
    const double delta = x - mean;
    mean += delta / n;
    squares += delta * (x - mean);
  }
};

Sums of_logarithms(const std::vector<double>& batches) {
  if (batches.empty()) fail("noise budget: an attempt has no batches");
  Sums sums;
  for (const double time : batches) {
    if (!std::isfinite(time) || time <= 0) {
      fail("noise budget: a time is not positive and finite: {}", time);
    }
    sums.add(std::log(time));
  }
  return sums;
}

}  // namespace

NoiseBudget noise_budget(std::span<const RunBatches> runs) {
  // Sums of squares of the nested design, and the coefficients with which the variances enter their
  // expectations: N_ij batches in attempt j of run i, N_i in run i, N in all.
  double within = 0, between = 0, over_runs = 0;
  double n = 0, sum_nij2_over_ni = 0, sum_nij2 = 0, sum_ni2 = 0, grand = 0;
  int attempts = 0;
  std::vector<Sums> run_means;
  for (const auto& run : runs) {
    double ni = 0, nij2 = 0, mean = 0;
    std::vector<Sums> members;
    for (const auto& batches : run) {
      members.push_back(of_logarithms(batches));
      within += members.back().squares;
      ni += members.back().n;
      nij2 += members.back().n * members.back().n;
    }
    if (members.empty()) continue;
    for (const auto& m : members) mean += m.n * m.mean / ni;
    for (const auto& m : members) between += m.n * (m.mean - mean) * (m.mean - mean);
    attempts += static_cast<int>(members.size());
    run_means.push_back({ni, mean, 0});
    sum_nij2_over_ni += nij2 / ni;
    sum_nij2 += nij2;
    sum_ni2 += ni * ni;
    n += ni;
  }
  if (attempts == 0) fail("noise budget: no attempts");
  for (const auto& r : run_means) grand += r.n * r.mean / n;
  for (const auto& r : run_means) over_runs += r.n * (r.mean - grand) * (r.mean - grand);

  NoiseBudget budget;
  budget.runs = static_cast<int>(run_means.size());
  budget.attempts = attempts;
  budget.batches = static_cast<int>(n);
  // E[within] = (N − attempts)·σ_w²
  // E[between] = (N − Σ N_ij²/N_i)·σ_p² + (attempts − runs)·σ_w²
  // E[runs] = (N − Σ N_i²/N)·σ_r² + (Σ N_ij²/N_i − Σ N_ij²/N)·σ_p² + (runs − 1)·σ_w²
  double var_within = 0, var_process = 0;
  if (budget.batches > attempts) {
    var_within = within / (budget.batches - attempts);
    budget.within_process = std::sqrt(var_within);
  }
  if (attempts > budget.runs) {
    const double excess = between - (attempts - budget.runs) * var_within;
    var_process = std::max(0.0, excess / (n - sum_nij2_over_ni));
    budget.between_processes = std::sqrt(var_process);
  }
  if (budget.runs > 1) {
    const double excess = over_runs - (sum_nij2_over_ni - sum_nij2 / n) * var_process -
                          (budget.runs - 1) * var_within;
    budget.between_runs = std::sqrt(std::max(0.0, excess / (n - sum_ni2 / n)));
  }
  return budget;
}

namespace {

constexpr std::size_t kLeastValues = 8;
constexpr int kReferenceSamples = 999;
constexpr double kLevel = 0.01;

std::size_t least_mode(std::size_t n) { return std::max<std::size_t>(3, (n + 4) / 5); }

// The cut of sorted values with the least scatter within both parts, each of an allowed size.
Modes best_cut(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size(), least = least_mode(n);
  std::vector<Sums> left(n + 1), right(n + 1);  // of the first, of the last i values
  for (std::size_t i = 0; i < n; ++i) {
    left[i + 1] = left[i];
    left[i + 1].add(sorted[i]);
    right[i + 1] = right[i];
    right[i + 1].add(sorted[n - 1 - i]);
  }
  std::size_t cut = least;
  for (std::size_t i = least; i + least <= n; ++i) {
    if (left[i].squares + right[n - i].squares < left[cut].squares + right[n - cut].squares) {
      cut = i;
    }
  }
  const Sums &a = left[cut], &b = right[n - cut];
  const double spread = std::sqrt((a.squares + b.squares) / static_cast<double>(n - 2));
  const double distance = b.mean - a.mean;
  const double separation = spread > 0 ? distance / spread : (distance > 0 ? HUGE_VAL : 0);
  return {a.mean, b.mean, static_cast<int>(cut), static_cast<int>(n - cut), separation, 1};
}

}  // namespace

std::optional<Modes> two_modes(std::span<const double> values, std::uint64_t seed) {
  for (const double value : values) {
    if (!std::isfinite(value)) fail("modes: a value is not finite: {}", value);
  }
  if (values.size() < kLeastValues) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  auto modes = best_cut(sorted);
  RandomStream random(seed, "modes");
  int count = 0;
  for (int m = 0; m < kReferenceSamples; ++m) {
    for (double& value : sorted) value = random.unit();
    std::ranges::sort(sorted);
    count += best_cut(sorted).separation >= modes.separation;
  }
  modes.p = (count + 1.0) / (kReferenceSamples + 1.0);
  if (modes.p > kLevel) return std::nullopt;
  return modes;
}

}  // namespace assay::lab
