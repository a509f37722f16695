// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/change_points.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "lab/stats/detectable.h"
#include "lab/stats/random.h"
#include "lab/stats/tests_of_difference.h"

namespace assay::lab {
namespace {

constexpr double kCorrelated = 0.1;

struct Cut {
  std::size_t at = 0, end = 0;  // [0, at) against [at, end)
  double statistic = -1;
};

// The stretch under examination: distances times weights between every two of its points.
class Stretch {
 public:
  Stretch(std::span<const SeriesPoint> points, std::size_t least)
      : points_(points), n_(points.size()), least_(least), distance_(n_ * n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        distance_[i * n_ + j] =
            std::fabs(points[i].value - points[j].value) * points[i].weight * points[j].weight;
      }
    }
  }

  // The strongest cut of the points taken in this order: of all [0, τ) against [τ, κ), the τ and κ
  // with the largest energy distance W_L·W_R/(W_L + W_R)·(2·mean|l − r| − mean|l − l'| −
  // mean|r − r'|), means weighted. κ short of the end finds a level that later came back.
  //
  // All sums over pairs grow by one point at a time: with P(i) = Σ_{h<i} D(h, κ) for the point κ
  // that joins, left(κ) = P(κ) for the left sum, and for every τ the cross sum gains P(τ), the
  // right one P(κ) − P(τ). Hence O(n²) for all τ and κ together.
  Cut strongest(std::span<const std::size_t> order) {
    left_.assign(n_ + 1, 0);
    mass_.assign(n_ + 1, 0);
    cross_.assign(n_ + 1, 0);
    right_.assign(n_ + 1, 0);
    prefix_.assign(n_ + 1, 0);
    Cut best;
    for (std::size_t k = 0; k < n_; ++k) {
      const double* row = &distance_[order[k] * n_];
      for (std::size_t i = 0; i < k; ++i) prefix_[i + 1] = prefix_[i] + row[order[i]];
      for (std::size_t t = least_; t < k; ++t) {
        cross_[t] += prefix_[t];
        right_[t] += prefix_[k] - prefix_[t];
      }
      if (k >= least_) cross_[k] = prefix_[k];  // τ = κ: the newcomer alone on the right
      left_[k + 1] = left_[k] + prefix_[k];
      mass_[k + 1] = mass_[k] + points_[order[k]].weight;
      const std::size_t end = k + 1;
      for (std::size_t t = least_; t + least_ <= end; ++t) {
        const double l = mass_[t], r = mass_[end] - mass_[t];
        const double energy = 2 * (cross_[t] - left_[t] * r / l - right_[t] * l / r) / (l + r);
        if (energy > best.statistic) best = {t, end, energy};
      }
    }
    return best;
  }

  // What is left of each point after the level of its stretch ([0, at), [at, end) or the rest) is
  // taken away: a change must not pass for a correlation of neighbours.
  std::vector<double> residuals(const Cut& cut) const;

 private:
  std::span<const SeriesPoint> points_;
  std::size_t n_, least_;
  std::vector<double> distance_;
  std::vector<double> left_, mass_, cross_, right_, prefix_;
};

double weighted_median(std::span<const SeriesPoint> points) {
  std::vector<SeriesPoint> sorted(points.begin(), points.end());
  std::ranges::sort(sorted, {}, &SeriesPoint::value);
  double total = 0, sum = 0;
  for (const auto& point : sorted) total += point.weight;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i].weight;
    if (sum == total / 2) return (sorted[i].value + sorted[i + 1].value) / 2;
    if (sum > total / 2) return sorted[i].value;
  }
  return sorted.back().value;
}

std::vector<double> Stretch::residuals(const Cut& cut) const {
  const std::size_t end = cut.end + least_ <= n_ ? cut.end : n_;  // a short rest joins the middle
  std::vector<double> rest;
  const auto subtract_level = [&](std::size_t from, std::size_t to) {
    if (from == to) return;
    const double level = weighted_median(points_.subspan(from, to - from));
    for (std::size_t i = from; i < to; ++i) rest.push_back(points_[i].value - level);
  };
  subtract_level(0, cut.at);
  subtract_level(cut.at, end);
  subtract_level(end, n_);
  return rest;
}

// The length of the blocks for a correlation φ: Carlstein's (√6·φ/(1 − φ²))^⅔·n^⅓, the length that
// balances what blocks break against what they leave to shuffle; 1 for none.
std::size_t block_length(double phi, std::size_t n) {
  if (phi <= kCorrelated) return 1;
  phi = std::min(phi, 0.95);
  const double length = std::cbrt(6 * std::pow(phi / (1 - phi * phi), 2) * static_cast<double>(n));
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(length)), 2, n / 4);
}

// A random order that keeps runs of `length` neighbours together; where the runs begin is random.
void shuffle_blocks(std::vector<std::size_t>& order, std::size_t length, RandomStream& random) {
  const std::size_t n = order.size();
  if (length <= 1) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    return shuffle(std::span(order), random);
  }
  const std::size_t start = random.below(n), count = (n + length - 1) / length;
  std::vector<std::size_t> blocks(count);
  std::iota(blocks.begin(), blocks.end(), std::size_t{0});
  shuffle(std::span(blocks), random);
  std::size_t at = 0;
  for (const std::size_t block : blocks) {
    for (std::size_t i = block * length; i < std::min(n, (block + 1) * length); ++i) {
      order[at++] = (start + i) % n;
    }
  }
}

class Search {
 public:
  Search(std::span<const SeriesPoint> series, const ChangeSettings& settings)
      : series_(series), settings_(settings), random_(settings.seed, "changes") {}

  ChangePoints run() {
    ChangePoints result;
    split(0, series_.size(), result, true);
    std::ranges::sort(result.points, {}, &ChangePoint::index);
    for (std::size_t i = 0; i < result.points.size(); ++i) {
      auto& point = result.points[i];
      const std::size_t from = i == 0 ? 0 : result.points[i - 1].index;
      const std::size_t to =
          i + 1 == result.points.size() ? series_.size() : result.points[i + 1].index;
      point.before = weighted_median(series_.subspan(from, point.index - from));
      point.after = weighted_median(series_.subspan(point.index, to - point.index));
    }
    return result;
  }

 private:
  void split(std::size_t from, std::size_t to, ChangePoints& result, bool whole) {
    const auto least = static_cast<std::size_t>(settings_.min_segment);
    const std::size_t n = to - from;
    if (n < 2 * least) return;
    Stretch stretch(series_.subspan(from, n), least);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto seen = stretch.strongest(order);
    if (!(seen.statistic > 0)) return;  // all values equal
    const std::size_t length = block_length(lag_one_correlation(stretch.residuals(seen)), n);
    int count = 0;
    for (int m = 0; m < settings_.permutations; ++m) {
      shuffle_blocks(order, length, random_);
      count += stretch.strongest(order).statistic >= seen.statistic * (1 - 1e-12);
    }
    const double p = (count + 1.0) / (settings_.permutations + 1.0);
    if (whole) {
      result.p = p;
      result.blocks = length > 1;
    }
    if (p >= settings_.level) return;
    result.points.push_back({from + seen.at, p, 0, 0});
    split(from, from + seen.at, result, false);
    split(from + seen.at, to, result, false);
  }

  std::span<const SeriesPoint> series_;
  ChangeSettings settings_;
  RandomStream random_;
};

}  // namespace

ChangePoints change_points(std::span<const SeriesPoint> series, const ChangeSettings& settings) {
  if (settings.min_segment < 2) {
    fail("change points: a segment has at least two points, got {}", settings.min_segment);
  }
  if (settings.permutations < 99) {
    fail("change points: at least 99 permutations are needed, got {}", settings.permutations);
  }
  if (!(settings.level > 0 && settings.level < 1)) {
    fail("change points: the level must lie between 0 and 1, got {}", settings.level);
  }
  for (const auto& point : series) {
    if (!std::isfinite(point.value)) fail("change points: a value is not finite: {}", point.value);
    if (!std::isfinite(point.weight) || point.weight <= 0) {
      fail("change points: a weight is not positive and finite: {}", point.weight);
    }
  }
  return Search(series, settings).run();
}

double strongest_statistic(std::span<const SeriesPoint> series, int min_segment) {
  std::vector<std::size_t> order(series.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return Stretch(series, static_cast<std::size_t>(min_segment)).strongest(order).statistic;
}

std::vector<bool> changed_series(std::span<const ChangePoints> series, double rate) {
  std::vector<double> p;
  for (const auto& one : series) p.push_back(one.p);
  const auto adjusted = benjamini_hochberg(p);
  std::vector<bool> changed;
  for (std::size_t i = 0; i < series.size(); ++i) {
    changed.push_back(!series[i].points.empty() && adjusted[i] <= rate);
  }
  return changed;
}

double weight_from_width(double width, double typical) {
  if (!std::isfinite(width) || !std::isfinite(typical) || width <= 0 || typical <= 0) return 1;
  return std::clamp((typical / width) * (typical / width), 1.0 / 16, 16.0);
}

double lag_one_correlation(std::span<const double> values) {
  const double limit = 3 * robust_sigma(values);
  if (values.size() < 3 || limit == 0) return 0;
  double mean = 0, products = 0, squares = 0;
  std::vector<double> clipped;
  for (const double v : values) clipped.push_back(std::clamp(v, -limit, limit));
  for (const double v : clipped) mean += v / static_cast<double>(clipped.size());
  for (std::size_t i = 0; i < clipped.size(); ++i) {
    squares += (clipped[i] - mean) * (clipped[i] - mean);
    if (i > 0) products += (clipped[i] - mean) * (clipped[i - 1] - mean);
  }
  return squares > 0 ? products / squares : 0;
}

}  // namespace assay::lab
