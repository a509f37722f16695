// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/detectable.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "lab/stats/distributions.h"
#include "lab/stats/quantile.h"
#include "lab/stats/sign_interval.h"

namespace assay::lab {
namespace {

// The standard error of a median over that of a mean, for normal values: √(π/2).
constexpr double kMedianOverMean = 1.2533141373155003;
// The standard deviation over the median absolute deviation, for normal values: 1/Φ⁻¹(¾).
constexpr double kSigmaOverMad = 1.4826022185056018;

constexpr std::size_t kFewest =
    10;  // values for which a median absolute deviation is steady enough

double standard_deviation(std::span<const double> values) {
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double scale(double sigma_d, double alpha, double power) {
  if (!(sigma_d >= 0) || !std::isfinite(sigma_d)) {
    fail("detectable effect: the spread must be finite and not negative, got {}", sigma_d);
  }
  if (!(alpha > 0 && alpha < 1)) fail("detectable effect: alpha must lie in (0, 1), got {}", alpha);
  if (!(power > 0 && power < 1)) fail("detectable effect: power must lie in (0, 1), got {}", power);
  const double z = normal_quantile(1 - alpha / 2) + normal_quantile(power);
  return kMedianOverMean * std::max(0.0, z) * sigma_d;
}

}  // namespace

double robust_sigma(std::span<const double> d) {
  if (d.size() < 2) return 0;
  if (d.size() < kFewest) return standard_deviation(d);
  const double middle = median(d);
  std::vector<double> deviations;
  for (const double value : d) deviations.push_back(std::fabs(value - middle));
  const double mad = median(deviations);
  return mad > 0 ? kSigmaOverMad * mad : standard_deviation(d);
}

double minimum_detectable_effect(double sigma_d, int rounds, double alpha, double power) {
  if (rounds < 1) fail("detectable effect: at least one round is needed, got {}", rounds);
  return std::expm1(scale(sigma_d, alpha, power) / std::sqrt(static_cast<double>(rounds)));
}

int rounds_needed(double effect, double sigma_d, double alpha, double power) {
  if (!(effect > 0) || !std::isfinite(effect)) {
    fail("rounds needed: the effect must be positive and finite, got {}", effect);
  }
  const double root = scale(sigma_d, alpha, power) / std::log1p(effect);
  const double rounds = std::ceil(root * root * (1 - 1e-12));  // so that R(MDE(R)) is R
  const int least = minimum_rounds(1 - alpha);
  if (rounds >= std::numeric_limits<int>::max()) return std::numeric_limits<int>::max();
  return std::max(least, static_cast<int>(rounds));
}

}  // namespace assay::lab
