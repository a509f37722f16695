// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "noise_models.h"

#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "base/names.h"
#include "lab/stats/quantile.h"

namespace assay::lab::validation {
namespace {

constexpr double kSigma = 0.01;
constexpr double kCorrelation = 0.3;

}  // namespace

RandomStream stream(int trial, std::string_view experiment) {
  return {static_cast<std::uint64_t>(trial), short_hash(experiment).substr(0, 8)};
}

constexpr auto kNoiseNames = make_names<Noise>({{Noise::kNormal, "normal"},
                                                {Noise::kLognormal, "lognormal"},
                                                {Noise::kSpiky, "spiky"},
                                                {Noise::kBimodal, "bimodal"},
                                                {Noise::kQuantised, "quantised"},
                                                {Noise::kAr1, "AR(1) 0.3"},
                                                {Noise::kHierarchical, "hierarchical"},
                                                {Noise::kDrifting, "drifting"}});

std::string_view name_of(Noise noise) { return kNoiseNames[noise]; }

std::vector<double> draw_batches(RandomStream& random, int batches) {
  const double process = 1 + kSigma * random.normal();
  std::vector<double> times;
  for (int i = 0; i < batches; ++i) {
    const double spike = random.unit() < 0.02 ? 3 : 1;
    times.push_back(process * (1 + kSigma * random.normal()) * spike);
  }
  return times;
}

double Attempts::next() {
  const int at = count_++;
  switch (noise_) {
    case Noise::kNormal:
      return 1 + kSigma * random_.normal();
    case Noise::kLognormal:
      return std::exp(0.1 * random_.normal());
    case Noise::kSpiky: {
      const double spike = random_.unit() < 0.02 ? 1.5 : 1;
      return (1 + kSigma * random_.normal()) * spike;
    }
    case Noise::kBimodal: {
      const double level = random_.unit() < 0.5 ? 1 : 1.1;
      return level * (1 + 0.5 * kSigma * random_.normal());
    }
    case Noise::kQuantised:
      return kSigma * std::round((1 + kSigma * random_.normal()) / kSigma);
    case Noise::kAr1:
      // Stationary from the first value on.
      state_ = started_ ? kCorrelation * state_ +
                              std::sqrt(1 - kCorrelation * kCorrelation) * random_.normal()
                        : random_.normal();
      started_ = true;
      return std::exp(kSigma * state_);
    case Noise::kHierarchical:
      return median(draw_batches(random_));
    case Noise::kDrifting:
      return (1 + 0.02 * at / 40) * (1 + kSigma * random_.normal());
  }
  throw InternalError("a noise can be drawn");
}

Sides draw_sides(Noise noise, int rounds, double factor, RandomStream& random) {
  Attempts attempts(noise, random);
  Sides sides;
  bool a_first = false;
  for (int r = 0; r < rounds; ++r) {
    // Two rounds are a block: one order at random, then the other.
    a_first = r % 2 == 0 ? random.unit() < 0.5 : !a_first;
    const double first = attempts.next(), second = attempts.next();
    sides.a.push_back(a_first ? first : second);
    sides.b.push_back(factor * (a_first ? second : first));
  }
  return sides;
}

std::vector<double> Sides::d() const {
  std::vector<double> differences;
  for (std::size_t r = 0; r < a.size(); ++r) differences.push_back(std::log(b[r]) - std::log(a[r]));
  return differences;
}

}  // namespace assay::lab::validation
