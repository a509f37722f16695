// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/change_points.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "lab/stats/detectable.h"
#include "lab/stats/false_discoveries.h"
#include "lab/stats/level_fit.h"
#include "lab/stats/quantile.h"
#include "lab/stats/random.h"

namespace assay::lab {
namespace {

constexpr double kShuffleWork = 1e9;  // for one series: draws × points²
// The same for a series or a cut whose p is near the level: chance in the draws must not decide.
constexpr double kWorkNearTheLevel = 2e7;
constexpr int kDrawsNearTheLevel = 16'000;

// How often shuffles reach what was seen.
class Tally {
 public:
  explicit Tally(double level) : level_(level) {}
  void add(bool reached) {
    ++drawn_;
    reached_ += reached;
  }
  int drawn() const { return drawn_; }
  double p() const {
    return surely_above() ? static_cast<double>(reached_) / drawn_
                          : (reached_ + 1.0) / (drawn_ + 1.0);
  }
  // Of the level, by three standard errors: more draws would tell nothing.
  bool surely_above() const {
    return reached_ >= kEnough && reached_ - 3 * std::sqrt(reached_) > level_ * drawn_;
  }
  bool near() const {
    return std::fabs(reached_ - level_ * drawn_) <= 3 * std::sqrt(reached_ + 1.0);
  }

 private:
  static constexpr int kEnough = 10;
  double level_;
  int drawn_ = 0, reached_ = 0;
};

// The most draws for so many points where p is near the level.
int draws_near_the_level(std::size_t points) {
  const auto n = static_cast<double>(points);
  return static_cast<int>(std::min<double>(kDrawsNearTheLevel, kWorkNearTheLevel / (n * n)));
}

// The lag-1 correlation of values about zero, with values beyond three robust standard deviations
// pulled in, so that a spike hides nothing.
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

// The length of the blocks for a correlation φ: Carlstein's (√6·φ/(1 − φ²))^⅔·n^⅓, the length that
// balances what blocks break against what they leave to shuffle; 1 for none.
std::size_t block_length(double phi, std::size_t n) {
  if (phi <= 0) return 1;
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

// What a cut is worth in noise alone, from the differences of neighbours, which share a level but
// for a few steps.
double price_of_a_cut(std::span<const SeriesPoint> series) {
  const double n = static_cast<double>(series.size());
  std::vector<double> steps, sizes;
  double sum = 0;
  for (std::size_t i = 1; i < series.size(); ++i) {
    steps.push_back(series[i].value - series[i - 1].value);
    sizes.push_back(std::fabs(steps.back()));
    sum += sizes.back();
  }
  if (sum == 0) return 0;
  const double typical = median(sizes);
  const double sigma_of_steps =
      typical > 0 ? 1.4826 * typical : sum / (n - 1) * std::sqrt(M_PI / 2);  // a coarse clock's
  // Differences of independent values are correlated by −½, those of values correlated by φ by
  // −(1 − φ)/2, with a standard error of φ of √(2/n). What is too large for noise is a step.
  double products = 0, squares = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (std::max(sizes[i], sizes[i - 1]) > 2.5 * sigma_of_steps) continue;
    products += steps[i] * steps[i - 1];
    squares += (steps[i] * steps[i] + steps[i - 1] * steps[i - 1]) / 2;
  }
  double phi = squares > 0 ? 1 + 2 * products / squares : 0;
  if (phi < 3 * std::sqrt(2 / n)) phi = 0;
  phi = std::min(phi, 0.4);
  // A cut in independent noise saves about 0.63·z² σ, z the largest of its standardised
  // differences; in noise that wanders (1 + φ)/(1 − φ) times as much.
  const double sigma = sigma_of_steps / std::sqrt(2 * (1 - phi));
  return sigma * (3 + std::log(n)) * (1 + phi) / (1 - phi);
}

// One series: its fit, its noise, and how often the series, shuffled, is fitted as well.
class Examination {
 public:
  Examination(const Series& series, const ChangeSettings& settings, std::uint64_t number)
      : series_(series),
        settings_(settings),
        least_(static_cast<std::size_t>(settings.min_segment)),
        random_(settings.seed + number, "changes"),
        tally_(settings.level) {
    result_.tested = series_.size() >= 2 * least_;
    if (!result_.tested) return;
    price_ = price_of_a_cut(series_);
    fit_ = fit_levels(series_, price_, least_);
    if (fit_.cuts.empty()) return;
    take_noise();
    // Blocks of the series itself would keep its steps together.
    pool_ = block_ > 1 ? noise_ : series_;
    enough_ = fit_.gain * (1 - 1e-12);
    most_ = cost_of_one_level(pool_);
  }

  // Shuffles the series until p is known, or `draws` times.
  void draw(int draws) {
    if (fit_.cuts.empty()) return;
    const double most =
        kShuffleWork / (static_cast<double>(series_.size()) * static_cast<double>(series_.size()));
    draws = std::min(draws, std::max(99, static_cast<int>(most)));
    while (tally_.drawn() < draws && !tally_.surely_above()) {
      const auto shuffled = shuffled_points(pool_, pool_.size());
      tally_.add(most_ - least_cost(shuffled, price_) >= enough_ &&
                 fit_levels(shuffled, price_, least_).gain >= enough_);
    }
  }
  double p() const { return fit_.cuts.empty() ? 1 : tally_.p(); }
  bool tested() const { return result_.tested; }
  bool undecided() const { return !fit_.cuts.empty() && !tally_.surely_above(); }
  // Whether more draws could change what its level says.
  bool near_the_level() const {
    return undecided() && tally_.near() && tally_.drawn() < draws_near_the_level(series_.size());
  }

  ChangePoints result(bool changed) {
    result_.p = p();
    if (changed) keep_cuts();
    return result_;
  }

 private:
  std::size_t from(std::size_t cut) const { return cut == 0 ? 0 : fit_.cuts[cut - 1]; }
  std::size_t to(std::size_t cut) const {
    return cut == fit_.cuts.size() ? series_.size() : fit_.cuts[cut];
  }
  std::span<const SeriesPoint> points(std::size_t first, std::size_t end) const {
    return std::span(series_).subspan(first, end - first);
  }

  // What the fit leaves, as large as if no level had been fitted to it.
  void take_noise() {
    noise_.clear();
    std::vector<double> values;
    const double n = static_cast<double>(series_.size());
    const double grow = std::sqrt(n / (n - static_cast<double>(fit_.cuts.size()) - 1));
    for (std::size_t k = 0; k <= fit_.cuts.size(); ++k) {
      const double level = weighted_median(points(from(k), to(k)));
      for (const auto& point : points(from(k), to(k))) {
        noise_.push_back({(point.value - level) * grow, point.weight});
        values.push_back(noise_.back().value);
      }
    }
    const double left = lag_one_correlation(values);  // its standard error is 1/√n
    block_ = block_length(left > 1.65 / std::sqrt(n) ? left : 0, series_.size());
    result_.blocks = block_ > 1;
  }

  Series shuffled_points(const Series& points, std::size_t count) {
    order_.resize(points.size());
    shuffle_blocks(order_, block_, random_);
    Series shuffled;
    shuffled.reserve(count);
    for (std::size_t i = 0; i < count; ++i) shuffled.push_back(points[order_[i]]);
    return shuffled;
  }

  // How often noise in a stretch as long as the two beside this cut is cut with as much gain.
  double p_of(std::size_t cut) {
    const std::size_t first = from(cut), end = to(cut + 1);
    RunningMedian whole, left, right;
    for (std::size_t i = first; i < end; ++i) {
      whole.add(series_[i]);
      (i < fit_.cuts[cut] ? left : right).add(series_[i]);
    }
    const double gain = (whole.cost() - left.cost() - right.cost()) * (1 - 1e-12);
    Tally tally(settings_.level);
    const int near = draws_near_the_level(end - first);
    while (!tally.surely_above() &&
           (tally.drawn() < settings_.permutations || (tally.near() && tally.drawn() < near))) {
      tally.add(best_cut(shuffled_points(noise_, end - first), least_).gain >= gain);
    }
    return tally.p();
  }

  // Drops the least of the cuts until all that are left are more than noise.
  void keep_cuts() {
    std::vector<double> p;
    while (!fit_.cuts.empty()) {
      p.clear();
      for (std::size_t k = 0; k < fit_.cuts.size(); ++k) p.push_back(p_of(k));
      const auto worst = std::ranges::max_element(p);
      if (*worst < settings_.level) break;
      fit_.cuts.erase(fit_.cuts.begin() + (worst - p.begin()));
      take_noise();
    }
    for (std::size_t k = 0; k < fit_.cuts.size(); ++k) {
      result_.points.push_back({fit_.cuts[k], p[k], weighted_median(points(from(k), to(k))),
                                weighted_median(points(to(k), to(k + 1)))});
    }
  }

  const Series& series_;
  const ChangeSettings& settings_;
  std::size_t least_;
  RandomStream random_;
  double price_ = 0;
  double enough_ = 0;  // of a shuffle's gain, to count
  double most_ = 0;    // that cutting could save
  LevelFit fit_;
  Series noise_, pool_;
  std::size_t block_ = 1;
  std::vector<std::size_t> order_;
  Tally tally_;
  ChangePoints result_;
};

void check_input(std::span<const Series> family, const ChangeSettings& settings) {
  if (settings.min_segment < 2) {
    fail("change points: a segment has at least two points, got {}", settings.min_segment);
  }
  if (settings.permutations < 99) {
    fail("change points: at least 99 permutations are needed, got {}", settings.permutations);
  }
  if (!(settings.level > 0 && settings.level < 1)) {
    fail("change points: the level must lie between 0 and 1, got {}", settings.level);
  }
  for (const auto& series : family) {
    for (const auto& point : series) {
      if (!std::isfinite(point.value)) {
        fail("change points: a value is not finite: {}", point.value);
      }
      if (!std::isfinite(point.weight) || point.weight <= 0) {
        fail("change points: a weight is not positive and finite: {}", point.weight);
      }
    }
  }
}

}  // namespace

std::vector<ChangePoints> change_points(std::span<const Series> family,
                                        const ChangeSettings& settings) {
  check_input(family, settings);
  std::vector<Examination> all;
  std::vector<std::size_t> tested;
  for (const auto& series : family) {
    all.emplace_back(series, settings, all.size());
    if (all.back().tested()) tested.push_back(all.size() - 1);
  }
  std::vector<bool> changed(family.size(), false);
  // More draws for those that are not decided, as long as the family could ask for more, and for
  // those whose p is near the level.
  const double most = 2 * static_cast<double>(tested.size()) / settings.rate;
  for (int draws = settings.permutations;; draws *= 4) {
    std::vector<double> p;
    for (const auto i : tested) {
      if (!changed[i] || all[i].near_the_level()) all[i].draw(draws);
      p.push_back(all[i].p());
    }
    const auto adjusted = benjamini_hochberg(p);
    bool open = false;
    for (std::size_t k = 0; k < tested.size(); ++k) {
      const auto i = tested[k];
      changed[i] = p[k] < settings.level && adjusted[k] <= settings.rate;
      const bool asked_for = draws < most && !changed[i] && p[k] < settings.level;
      open = open || (asked_for && all[i].undecided()) || all[i].near_the_level();
    }
    if (!open) break;
  }
  std::vector<ChangePoints> result;
  for (std::size_t i = 0; i < all.size(); ++i) result.push_back(all[i].result(changed[i]));
  return result;
}

ChangePoints change_points(const Series& series, const ChangeSettings& settings) {
  return change_points(std::span(&series, 1), settings).front();
}

double weight_from_width(double width, double typical) {
  if (!std::isfinite(width) || !std::isfinite(typical) || width <= 0 || typical <= 0) return 1;
  return std::clamp((typical / width) * (typical / width), 1.0 / 16, 16.0);
}

}  // namespace assay::lab
