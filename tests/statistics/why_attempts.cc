// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// What goes wrong with the obvious methods: the reason for everything else.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "findings.h"
#include "lab/stats/distributions.h"
#include "lab/stats/quantile.h"
#include "lab/stats/sign_interval.h"
#include "lab/stats/unpaired_ratio.h"
#include "noise_models.h"

namespace assay::lab::validation {
namespace {

constexpr int kSamples = 50;

// Two-sided p of the rank test, exact.
double two_sided(const RankSum& law, std::span<const double> a, std::span<const double> b) {
  long u = 0;
  for (const double x : a) {
    for (const double y : b) u += y > x;
  }
  const long pairs = static_cast<long>(a.size()) * static_cast<long>(b.size());
  return std::min(1.0, 2 * law.at_most(std::min(u, pairs - u)));
}

// One-sided, exact: as many values above zero, or more, if both signs are as likely.
double sign_test(std::span<const double> d) {
  const auto n = static_cast<int>(d.size());
  return fair_binomial_cdf(
      n, n - static_cast<int>(std::ranges::count_if(d, [](double x) { return x > 0; })));
}

std::vector<double> one_process(RandomStream& random) {
  const double process = 1 + 0.01 * random.normal();
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) samples.push_back(process * (1 + 0.01 * random.normal()));
  return samples;
}

// The interval of the ratio of means from resampled samples of one process on each side.
bool bootstrap_of_samples_alarms(RandomStream& random, std::span<const double> a,
                                 std::span<const double> b) {
  std::vector<double> ratios;
  for (int draw = 0; draw < 500; ++draw) {
    double sum_a = 0, sum_b = 0;
    for (int i = 0; i < kSamples; ++i) {
      sum_a += a[random.below(a.size())];
      sum_b += b[random.below(b.size())];
    }
    ratios.push_back(sum_b / sum_a);
  }
  return quantile(ratios, 0.025) > 1 || quantile(ratios, 0.975) < 1;
}

}  // namespace

std::vector<Table> why_attempts(const Effort& effort) {
  Table table{"Why the attempt is the unit",
              fmt::format("No difference anywhere, level 5 %: how often is one reported? Processes "
                          "differ by 1 %, the {} samples of one scatter by 1 %.",
                          kSamples),
              {"method", "false alarms"},
              {}};
  const int trials = effort.trials(4000);
  int raw = 0, resampled = 0, medians = 0, peeking = 0, apart = 0, together = 0;
  const RankSum of_samples(kSamples, kSamples), of_attempts(10, 10), of_forty(20, 20);
  for (int t = 0; t < trials; ++t) {
    auto random = stream(t, "why");
    const auto a = one_process(random), b = one_process(random);
    raw += two_sided(of_samples, a, b) <= 0.05;
    resampled += bootstrap_of_samples_alarms(random, a, b);
    std::vector<double> ten_a, ten_b;
    for (int i = 0; i < 10; ++i) {
      ten_a.push_back(median(one_process(random)));
      ten_b.push_back(median(one_process(random)));
    }
    medians += two_sided(of_attempts, ten_a, ten_b) <= 0.05;
    // Stopping as soon as p < 0.05, looking after every round from 6 to 80.
    std::vector<double> d;
    bool stopped = false;
    while (d.size() < 80 && !stopped) {
      d.push_back(random.normal());
      const double p = sign_test(d);
      stopped = d.size() >= 6 && 2 * std::min(p, 1 - p + 1e-12) < 0.05;
    }
    peeking += stopped;
    // A level that rises by 2 % over 40 attempts: all of one side first, or in rounds.
    Attempts drifting(Noise::kDrifting, random);
    std::vector<double> first, last;
    for (int i = 0; i < 20; ++i) first.push_back(drifting.next());
    for (int i = 0; i < 20; ++i) last.push_back(drifting.next());
    apart += two_sided(of_forty, first, last) <= 0.05;
    const auto rounds = draw_sides(Noise::kDrifting, 20, 1, random).d();
    together += 2 * std::min(sign_test(rounds), sign_test([&] {
                               auto mirrored = rounds;
                               for (double& x : mirrored) x = -x;
                               return mirrored;
                             }())) <=
                0.05;
  }
  const auto line = [&](const char* method, int count, Outcome outcome) {
    table.add({method, percent(static_cast<double>(count) / trials)}, outcome);
  };
  const auto bounded = [&](int count) {
    return can_be_at_most(count, trials, 0.05) ? Outcome::kWithin : Outcome::kOutside;
  };
  line("Mann–Whitney on the samples of one process a side", raw, Outcome::kShown);
  line("bootstrap of the samples of one process a side", resampled, Outcome::kShown);
  line("Mann–Whitney on the medians of ten attempts a side", medians, bounded(medians));
  line("all of A, then all of B, 2 % drift, Mann–Whitney on 20 attempts", apart, Outcome::kShown);
  line("balanced rounds, the same drift, sign test on 20 rounds", together, bounded(together));
  line("sign test after every round, stopping at p < 0.05", peeking, Outcome::kShown);
  return {table};
}

}  // namespace assay::lab::validation
