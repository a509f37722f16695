// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The next token, chosen by its logits. Draw i depends on the seed, i and the logits alone.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "base/philox.h"

namespace assay::models {

struct SamplingOptions {
  double temperature = 0;  // 0: always the greatest, of equal ones the first
  std::int64_t top_k = 0;  // only among that many of the greatest; 0: among all
  double top_p = 1;        // of those, only the fewest that together have this probability
  std::uint64_t seed = 0;
  double min_p = 0;  // of those, only with this share of the likeliest's probability
  // What was there already becomes less likely: a logit above 0 is divided by this, one below
  // multiplied. Also where the greatest is taken.
  double repetition_penalty = 1;
};

class Sampler {
 public:
  // Throws UserError that names an option outside of its range.
  explicit Sampler(const SamplingOptions& options);

  // Tokens that are there already, for the penalty.
  void see(std::span<const std::int64_t> tokens);
  // What was picked is seen. Throws UserError for logits that are NaN or +∞: the weights are
  // broken.
  std::int64_t pick(std::span<const float> logits);

 private:
  std::int64_t draw(std::span<const float> logits);
  SamplingOptions options_;
  Philox stream_;
  std::uint64_t drawn_ = 0;
  std::set<std::int64_t> seen_;   // with a penalty
  std::vector<float> penalised_;  // likewise
};

// The first of the greatest. Throws as Sampler::pick() does.
std::int64_t likeliest_of(std::span<const float> logits);

}  // namespace assay::models
