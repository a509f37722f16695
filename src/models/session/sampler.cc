// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/session/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace assay::models {

std::int64_t likeliest_of(std::span<const float> logits) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i]) || logits[i] == INFINITY) {
      fail("the model's logits are not finite: token {} has {}", i, logits[i]);
    }
    if (logits[i] > logits[best]) best = i;
  }
  return static_cast<std::int64_t>(best);
}

Sampler::Sampler(const SamplingOptions& options)
    : options_(options), stream_(options.seed, stream_key("sampling")) {
  if (!(options.temperature >= 0 && options.temperature <= 100)) {
    fail("a temperature is from 0 to 100, not {}", options.temperature);
  }
  if (options.top_k < 0) fail("top-k is at least 0, not {}", options.top_k);
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    fail("top-p is above 0 and at most 1, not {}", options.top_p);
  }
  if (!(options.min_p >= 0 && options.min_p <= 1)) {
    fail("min-p is from 0 to 1, not {}", options.min_p);
  }
  if (!(options.repetition_penalty > 0 && options.repetition_penalty <= 100)) {
    fail("a repetition penalty is above 0 and at most 100, not {}", options.repetition_penalty);
  }
}

void Sampler::see(std::span<const std::int64_t> tokens) {
  if (options_.repetition_penalty != 1) seen_.insert(tokens.begin(), tokens.end());
}

std::int64_t Sampler::pick(std::span<const float> logits) {
  if (!seen_.empty()) {
    penalised_.assign(logits.begin(), logits.end());
    const auto penalty = static_cast<float>(options_.repetition_penalty);
    for (const auto token : seen_) {
      auto& logit = penalised_.at(static_cast<std::size_t>(token));
      logit = logit > 0 ? logit / penalty : logit * penalty;
    }
    logits = penalised_;
  }
  const auto token = draw(logits);
  see({&token, 1});
  return token;
}

std::int64_t Sampler::draw(std::span<const float> logits) {
  check(!logits.empty(), "a vocabulary has tokens");
  const auto best = static_cast<std::size_t>(likeliest_of(logits));
  if (options_.temperature == 0) return static_cast<std::int64_t>(best);
  const auto weight = [&](std::size_t token) {
    const double below = static_cast<double>(logits[token]) - static_cast<double>(logits[best]);
    return std::exp(below / options_.temperature);
  };
  // Greatest first, of equal ones the first; only as far as they are needed.
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto comes_before = [&](std::size_t a, std::size_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  std::size_t sorted = 0;
  const auto sort_first = [&](std::size_t count) {
    count = std::min(count, order.size());
    if (count <= sorted) return;
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(sorted);
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(count);
    std::partial_sort(begin, middle, order.end(), comes_before);
    sorted = count;
  };
  if (options_.top_k > 0 && static_cast<std::size_t>(options_.top_k) < order.size()) {
    sort_first(static_cast<std::size_t>(options_.top_k));
    // What is as likely as the last of them is among them too, as in transformers.
    const auto rest = order.begin() + static_cast<std::ptrdiff_t>(sorted);
    const auto end = std::partition(rest, order.end(), [&](std::size_t token) {
      return logits[token] == logits[order[sorted - 1]];
    });
    std::sort(rest, end);
    order.erase(end, order.end());
    sorted = order.size();
  }
  double total = 0;
  for (const auto token : order) total += weight(token);
  if (options_.top_p < 1) {
    std::size_t count = 0;
    double kept = 0;
    while (count < order.size() && kept < options_.top_p * total) {
      if (count == sorted) sort_first(std::max<std::size_t>(64, 4 * sorted));
      kept += weight(order[count++]);
    }
    order.resize(count);
    total = kept;
  }
  if (options_.min_p > 0) {
    // The likeliest has weight 1.
    std::erase_if(order, [&](std::size_t token) { return weight(token) < options_.min_p; });
    total = 0;
    for (const auto token : order) total += weight(token);
  }
  const double target = unit_interval(stream_[drawn_++]) * total;
  double passed = 0;
  for (const auto token : order) {
    passed += weight(token);
    if (target < passed) return static_cast<std::int64_t>(token);
  }
  // Rounding left a little behind the last: the greatest is always possible.
  return static_cast<std::int64_t>(best);
}

}  // namespace assay::models
