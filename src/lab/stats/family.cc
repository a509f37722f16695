// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/family.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "lab/stats/moderation.h"
#include "lab/stats/random.h"

namespace assay::lab {
namespace {

constexpr int kMostRoundsInFull = 13;
constexpr double kMostLabelsInFull = 1 << kMostRoundsInFull;
constexpr double kFamilyWork = 4e8;  // values looked at: about a second
constexpr int kLeastDraws = 1999;

// Where a sample lies and how its values scatter, a tenth cut off at either end.
struct Location {
  double mean = 0;
  RowVariance spread;
};

std::size_t cut_off(std::size_t n) { return n / 10; }

// `values` ascending where anything is cut off, in any order otherwise. The variance is that of one
// value, such that variance/n is the trimmed mean's (Yuen).
Location locate(std::span<const double> values) {
  const std::size_t n = values.size(), g = cut_off(n);
  const auto inner = values.subspan(g, n - 2 * g);
  double sum = 0;
  for (const double v : inner) sum += v;
  Location at;
  at.mean = sum / static_cast<double>(inner.size());
  const double low = values[g], high = values[n - 1 - g];
  const auto count = static_cast<double>(g);
  const double mean = (sum + count * (low + high)) / static_cast<double>(n);
  double squares = count * ((low - mean) * (low - mean) + (high - mean) * (high - mean));
  for (const double v : inner) squares += (v - mean) * (v - mean);
  const double kept = static_cast<double>(inner.size()) / static_cast<double>(n);
  at.spread.freedom = static_cast<double>(inner.size()) - 1;
  if (n > 1) at.spread.variance = squares / (static_cast<double>(n - 1) * kept * kept);
  return at;
}

// The shift of a row under one rearrangement, and its variance before it is divided by the number
// of values.
using Estimate = Location;

// One rearrangement of all rows: signs of rounds, labels of attempts by the sizes of the sides.
struct Rearrangement {
  std::vector<bool> minus;                                                   // by round
  std::map<std::pair<std::size_t, std::size_t>, std::vector<bool>> current;  // by attempt
};

class PairedRow {
 public:
  PairedRow(const PairedEvidence& evidence, double threshold) {
    for (const double d : evidence.d) {
      if (!std::isfinite(d)) fail("many rows: a value is not finite: {}", d);
      values_.push_back({std::fabs(d - threshold), order_.size(), d < threshold});
      order_.push_back(0);
    }
    std::ranges::sort(values_, {}, &Value::size);
  }
  std::size_t rounds() const { return values_.size(); }
  double share() const { return 1 / static_cast<double>(rounds()); }

  // Sizes are in order, whatever the signs: the negative ones from the largest, then the others.
  Estimate estimate(const Rearrangement& by) {
    std::size_t at = 0;
    for (auto v = values_.rbegin(); v != values_.rend(); ++v) {
      if (v->minus != by.minus[v->round]) order_[at++] = -v->size;
    }
    for (const auto& v : values_) {
      if (v.minus == by.minus[v.round]) order_[at++] = v.size;
    }
    return locate(order_);
  }

 private:
  struct Value {
    double size = 0;
    std::size_t round = 0;
    bool minus = false;
  };
  std::vector<Value> values_;  // ascending
  std::vector<double> order_;
};

class UnpairedRow {
 public:
  UnpairedRow(const UnpairedEvidence& evidence, double threshold)
      : sizes_{evidence.current.size(), evidence.baseline.size()} {
    const auto add = [&](const std::vector<double>& side, double shift) {
      for (const double value : side) {
        if (!std::isfinite(value) || value <= 0) {
          fail("many rows: a value is not positive and finite: {}", value);
        }
        values_.emplace_back(std::log(value) - shift, values_.size());
      }
    };
    add(evidence.current, threshold);
    add(evidence.baseline, 0);
    std::ranges::sort(values_);
  }
  const std::pair<std::size_t, std::size_t>& sizes() const { return sizes_; }
  double share() const {
    return 1 / static_cast<double>(sizes_.first) + 1 / static_cast<double>(sizes_.second);
  }
  std::size_t attempts() const { return values_.size(); }

  Estimate estimate(const Rearrangement& by) {
    const auto& labels = by.current.find(sizes_)->second;
    current_.clear();
    baseline_.clear();
    for (const auto& [value, slot] : values_)
      (labels[slot] ? current_ : baseline_).push_back(value);
    const auto a = locate(current_), b = locate(baseline_);
    Estimate e;
    e.mean = a.mean - b.mean;
    e.spread.freedom = a.spread.freedom + b.spread.freedom;
    if (e.spread.freedom > 0) {
      e.spread.variance =
          (a.spread.freedom * a.spread.variance + b.spread.freedom * b.spread.variance) /
          e.spread.freedom;
    }
    return e;
  }

 private:
  std::pair<std::size_t, std::size_t> sizes_;
  std::vector<std::pair<double, std::size_t>> values_;  // ascending, with the attempt's number
  std::vector<double> current_, baseline_;
};

using AnyRow = std::variant<PairedRow, UnpairedRow>;

// ln of the number of ways to label m + n attempts.
double log_choices(std::size_t m, std::size_t n) {
  const auto x = static_cast<double>(m), y = static_cast<double>(n);
  return std::lgamma(x + y + 1) - std::lgamma(x + 1) - std::lgamma(y + 1);
}

double least_p(const Evidence& evidence, bool one_sided) {
  if (const auto* paired = std::get_if<PairedEvidence>(&evidence)) {
    return least_paired_p(static_cast<int>(paired->d.size()), one_sided);
  }
  const auto& sides = std::get<UnpairedEvidence>(evidence);
  if (sides.current.empty() || sides.baseline.empty()) return 1;
  return (one_sided ? 1 : 2) * std::exp(-log_choices(sides.current.size(), sides.baseline.size()));
}

class Family {
 public:
  Family(std::vector<AnyRow> rows, const FamilySettings& settings)
      : rows_(std::move(rows)), settings_(settings) {
    Rearrangement as_seen;
    for (const auto& row : rows_) {
      if (const auto* paired = std::get_if<PairedRow>(&row)) {
        rounds_ = std::max(rounds_, paired->rounds());
        work_ += paired->rounds();
      } else {
        const auto& unpaired = std::get<UnpairedRow>(row);
        as_seen.current.try_emplace(unpaired.sizes());
        work_ += unpaired.attempts();
      }
    }
    as_seen.minus.assign(rounds_, false);
    for (auto& [sizes, labels] : as_seen.current) {
      labels.assign(sizes.first + sizes.second, false);
      std::fill_n(labels.begin(), sizes.first, true);
    }
    fit_priors(as_seen);
    seen_ = statistics(as_seen);
    order_.resize(rows_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, std::ranges::greater{},
                             [&](std::size_t i) { return seen_[i]; });
    own_.assign(rows_.size(), 0);
    adjusted_.assign(rows_.size(), 0);
    by_ = std::move(as_seen);
  }

  std::vector<FamilyP> judge() {
    if (by_.current.empty() && rounds_ <= kMostRoundsInFull) {
      try_all_signs();
    } else if (rounds_ == 0 && by_.current.size() == 1 && labels_in_full()) {
      try_all_labels();
    } else {
      draw();
    }
    std::vector<FamilyP> result(rows_.size());
    double largest = 0;
    for (const std::size_t i : order_) {
      largest = std::max(largest, adjusted_[i] / tries_);
      result[i] = {own_[i] / tries_, largest, true};
    }
    return result;
  }

 private:
  // Differences of rounds and times of attempts scatter differently: one prior for each.
  void fit_priors(const Rearrangement& as_seen) {
    std::vector<RowVariance> variances[2];
    for (auto& row : rows_) {
      variances[row.index()].push_back(
          std::visit([&](auto& r) { return r.estimate(as_seen); }, row).spread);
    }
    for (int kind = 0; kind < 2; ++kind) priors_[kind] = fit_prior(variances[kind]);
  }

  std::vector<double> statistics(const Rearrangement& by) {
    std::vector<double> t;
    t.reserve(rows_.size());
    for (auto& row : rows_) {
      const auto e = std::visit([&](auto& r) { return r.estimate(by); }, row);
      const double share = std::visit([](const auto& r) { return r.share(); }, row);
      const double error = std::sqrt(priors_[row.index()].moderate(e.spread) * share);
      const double mean = settings_.one_sided ? e.mean : std::fabs(e.mean);
      t.push_back(mean == 0 ? 0 : mean / error);  // no scatter at all: infinite
    }
    return t;
  }

  // What the rearrangement shows, against what was seen: of each row, and of each with all behind.
  void count() {
    const auto t = statistics(by_);
    // Sums in another order differ in their last digits: what should be equal counts as equal.
    const auto as_much = [](double drawn, double seen) {
      return drawn >= seen - 1e-9 * std::fabs(seen) || drawn == seen;
    };
    double most = -std::numeric_limits<double>::infinity();
    for (auto i = order_.rbegin(); i != order_.rend(); ++i) {
      most = std::max(most, t[*i]);
      own_[*i] += as_much(t[*i], seen_[*i]);
      adjusted_[*i] += as_much(most, seen_[*i]);
    }
    ++tries_;
  }

  void try_all_signs() {
    const unsigned long patterns = 1UL << rounds_;
    // Both signs of a pattern have the same size: half of them tell all.
    const unsigned long end = settings_.one_sided ? patterns : std::max(1UL, patterns / 2);
    for (unsigned long pattern = 0; pattern < end; ++pattern) {
      for (std::size_t r = 0; r < rounds_; ++r) by_.minus[r] = ((pattern >> r) & 1) != 0;
      count();
    }
  }

  bool labels_in_full() const {
    const auto& [sizes, labels] = *by_.current.begin();
    return log_choices(sizes.first, sizes.second) <= std::log(kMostLabelsInFull) + 1e-9;
  }

  void try_all_labels() {
    auto& labels = by_.current.begin()->second;  // as seen: the last of all orders
    do count();
    while (std::prev_permutation(labels.begin(), labels.end()));
  }

  void draw() {
    const double most = std::min<double>(settings_.draws, kFamilyWork / static_cast<double>(work_));
    const int draws = std::max(std::min(settings_.draws, kLeastDraws), static_cast<int>(most));
    RandomStream random(settings_.seed, "family");
    count();  // what was seen is one of the possible ones: (b + 1)/(M + 1)
    // All rows share the order of slots: that of the sides' k-th attempts.
    std::size_t current = 0, baseline = 0;
    for (const auto& [sizes, labels] : by_.current) {
      current = std::max(current, sizes.first);
      baseline = std::max(baseline, sizes.second);
    }
    std::vector<std::size_t> slots(current + baseline);
    std::iota(slots.begin(), slots.end(), std::size_t{0});
    for (int m = 0; m < draws; ++m) {
      std::uint64_t bits = 0;
      for (std::size_t r = 0; r < rounds_; ++r) {
        if (r % 64 == 0) bits = random.raw();
        by_.minus[r] = (bits & 1) != 0;
        bits >>= 1;
      }
      shuffle(std::span(slots), random);
      for (auto& [sizes, labels] : by_.current) {
        std::size_t left = sizes.first;
        for (const std::size_t slot : slots) {
          const bool of_current = slot < current;
          const std::size_t attempt = of_current ? slot : slot - current;
          if (attempt >= (of_current ? sizes.first : sizes.second)) continue;
          labels[of_current ? attempt : sizes.first + attempt] = left > 0;
          if (left > 0) --left;
        }
      }
      count();
    }
  }

  std::vector<AnyRow> rows_;
  FamilySettings settings_;
  std::size_t rounds_ = 0, work_ = 0;
  VariancePrior priors_[2];
  std::vector<double> seen_;        // statistics
  std::vector<std::size_t> order_;  // of rows, the largest statistic first
  Rearrangement by_;
  std::vector<double> own_, adjusted_;  // how often chance shows as much
  double tries_ = 0;
};

}  // namespace

std::vector<FamilyP> judge_family(std::span<const Evidence> rows, const FamilySettings& settings) {
  return judge_family(rows, std::vector<double>(rows.size(), 0.0), settings);
}

Shown what_is_shown(const std::optional<Interval>& of_ratio, const FamilyP& p, double alpha,
                    double margin) {
  if (!of_ratio) return Shown::kTooFew;
  if (of_ratio->low <= 1 && of_ratio->high >= 1) return Shown::kNothing;
  if (p.adjusted > alpha) return Shown::kPerhaps;
  if (of_ratio->high < 1 / (1 + margin)) return Shown::kBelow;
  if (of_ratio->low > 1 + margin) return Shown::kAbove;
  return Shown::kPerhaps;
}

double least_paired_p(int rounds, bool one_sided) {
  return std::min(1.0, std::ldexp(one_sided ? 1 : 2, -rounds));
}

std::vector<FamilyP> judge_family(std::span<const Evidence> rows,
                                  std::span<const double> thresholds,
                                  const FamilySettings& settings) {
  check(rows.size() == thresholds.size(), "every row of a family has a threshold");
  check(settings.draws >= 1, "a test by rearrangement rearranges");
  std::vector<FamilyP> result(rows.size());
  std::vector<AnyRow> judged;
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (least_p(rows[i], settings.one_sided) > settings.alpha) continue;
    if (const auto* paired = std::get_if<PairedEvidence>(&rows[i])) {
      judged.emplace_back(PairedRow(*paired, thresholds[i]));
    } else {
      judged.emplace_back(UnpairedRow(std::get<UnpairedEvidence>(rows[i]), thresholds[i]));
    }
    index.push_back(i);
  }
  if (judged.empty()) return result;
  const auto p = Family(std::move(judged), settings).judge();
  for (std::size_t k = 0; k < index.size(); ++k) result[index[k]] = p[k];
  return result;
}

}  // namespace assay::lab
