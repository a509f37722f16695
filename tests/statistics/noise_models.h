// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Eight ways in which times scatter, drawn instead of measured: what every interval and every test
// of lab/stats has to withstand.

#include <array>
#include <string_view>
#include <vector>

#include "lab/stats/random.h"

namespace assay::lab::validation {

// The stream of one experiment: of the trial's number and any text that tells experiments apart.
RandomStream stream(int trial, std::string_view experiment);

enum class Noise {
  kNormal,        // 1 % about the level
  kLognormal,     // σ = 0.1 in the logarithm: skewed
  kSpiky,         // 1 % normal, and 2 % of the attempts half as slow again
  kBimodal,       // two levels 10 % apart, equally likely
  kQuantised,     // 1 % normal, read from a clock of steps of 1 %: many ties
  kAr1,           // neighbours in time correlated by 0.3
  kHierarchical,  // the median of 10 batches: process σ 1 %, batch σ 1 %, 2 % of batches tripled
  kDrifting,      // 1 % normal over a level that rises by 2 % in 40 attempts
};
inline constexpr std::array<Noise, 8> kAllNoise = {
    Noise::kNormal,    Noise::kLognormal, Noise::kSpiky,        Noise::kBimodal,
    Noise::kQuantised, Noise::kAr1,       Noise::kHierarchical, Noise::kDrifting};
std::string_view name_of(Noise noise);
// Whether two values can be equal, so that exact methods become conservative.
inline bool has_ties(Noise noise) { return noise == Noise::kQuantised; }
// Whether attempts are independent of each other and of their place in time.
inline bool is_independent(Noise noise) {
  return noise != Noise::kAr1 && noise != Noise::kDrifting;
}

// Times of successive attempts, in the order they are made; the level is 1.
class Attempts {
 public:
  Attempts(Noise noise, RandomStream& random) : noise_(noise), random_(random) {}
  double next();

 private:
  Noise noise_;
  RandomStream& random_;
  double state_ = 0;
  bool started_ = false;
  int count_ = 0;
};

// The batches of one attempt of kHierarchical.
std::vector<double> draw_batches(RandomStream& random, int batches = 10);

// Two sides measured in rounds, in balanced random order (AB, BA and the like), b slower than a by
// `factor`.
struct Sides {
  std::vector<double> a, b;
  std::vector<double> d() const;  // ln b − ln a, round by round
};
Sides draw_sides(Noise noise, int rounds, double factor, RandomStream& random);

}  // namespace assay::lab::validation
