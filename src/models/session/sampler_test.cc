// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/session/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "models/testing/model_folder.h"

namespace assay::models {
namespace {

using Logits = std::vector<float>;

std::map<std::int64_t, int> drawn(const SamplingOptions& options, const Logits& logits, int count) {
  Sampler sampler(options);
  std::map<std::int64_t, int> times;
  for (int i = 0; i < count; ++i) ++times[sampler.pick(logits)];
  return times;
}

TEST(Sampler, WithoutTemperatureTheFirstOfTheGreatest) {
  Sampler sampler({});
  EXPECT_EQ(sampler.pick(Logits{1, 3, 2, 3}), 1);
  EXPECT_EQ(sampler.pick(Logits{-INFINITY, -5}), 1);
  EXPECT_EQ(sampler.pick(Logits{-INFINITY, -INFINITY}), 0);
  EXPECT_EQ(sampler.pick(Logits{7}), 0);
}

TEST(Sampler, DrawsByProbability) {
  // 0.6, 0.3, 0.1, never. 20000 draws: a standard deviation of at most 70.
  const Logits logits = {std::log(0.6f), std::log(0.3f), std::log(0.1f), -INFINITY};
  auto times = drawn({.temperature = 1, .seed = 3}, logits, 20000);
  EXPECT_NEAR(times[0], 12000, 350);
  EXPECT_NEAR(times[1], 6000, 350);
  EXPECT_NEAR(times[2], 2000, 350);
  EXPECT_EQ(times.count(3), 0u);
  // At temperature 1/2 probabilities are squared: 36 : 9 : 1.
  times = drawn({.temperature = 0.5, .seed = 3}, logits, 20000);
  EXPECT_NEAR(times[0], 20000 * 36 / 46, 350);
  EXPECT_NEAR(times[2], 20000 * 1 / 46, 350);
}

TEST(Sampler, MinPLeavesTheLikelierOnes) {
  const Logits logits = {std::log(0.1f), std::log(0.5f), std::log(0.3f), std::log(0.1f)};
  EXPECT_EQ(drawn({.temperature = 1, .min_p = 0.5}, logits, 500).size(), 2u);
  EXPECT_EQ(drawn({.temperature = 1, .min_p = 1}, logits, 500).size(), 1u);
  EXPECT_EQ(drawn({.temperature = 1, .min_p = 0}, logits, 500).size(), 4u);
}

// As transformers has it: above 0 divided, below 0 multiplied, whoever is greedy or not.
TEST(Sampler, WhatWasSaidBecomesLessLikely) {
  Sampler sampler({.repetition_penalty = 2});
  sampler.see(std::vector<std::int64_t>{0, 0, 3});
  EXPECT_EQ(sampler.pick(Logits{4, 2.5, 1, -1}), 1);       // 2, 2.5, 1, -2
  EXPECT_EQ(sampler.pick(Logits{4, 2.5, 1, -1}), 0);       // 2, 1.25, 1, -2
  EXPECT_EQ(sampler.pick(Logits{-1, -1.5, -1.8, -1}), 2);  // -2, -3, -1.8, -2
  EXPECT_EQ(drawn({.temperature = 1, .repetition_penalty = 1}, Logits{1, 1}, 500).size(), 2u);
  EXPECT_EQ(refusal_of([] { Sampler{{.repetition_penalty = 0}}; }),
            "a repetition penalty is above 0 and at most 100, not 0");
  EXPECT_EQ(refusal_of([] { Sampler{{.min_p = 1.5}}; }), "min-p is from 0 to 1, not 1.5");
}

TEST(Sampler, TopKAndTopPLeaveFewer) {
  const Logits logits = {std::log(0.1f), std::log(0.5f), std::log(0.3f), std::log(0.1f)};
  const auto tokens = [&](const SamplingOptions& options) {
    std::vector<std::int64_t> seen;
    for (const auto& [token, times] : drawn(options, logits, 2000)) seen.push_back(token);
    return seen;
  };
  using Tokens = std::vector<std::int64_t>;
  EXPECT_EQ(tokens({.temperature = 1, .top_k = 2}), (Tokens{1, 2}));
  EXPECT_EQ(tokens({.temperature = 1, .top_k = 3}), (Tokens{0, 1, 2, 3}));  // equals
  EXPECT_EQ(tokens({.temperature = 1, .top_k = 3, .top_p = 0.85}), (Tokens{0, 1, 2}));
  EXPECT_EQ(tokens({.temperature = 1, .top_k = 100}), (Tokens{0, 1, 2, 3}));
  EXPECT_EQ(tokens({.temperature = 1, .top_p = 0.4}), (Tokens{1}));
  EXPECT_EQ(tokens({.temperature = 1, .top_p = 0.79}), (Tokens{1, 2}));
  EXPECT_EQ(tokens({.temperature = 1, .top_p = 0.85}), (Tokens{0, 1, 2}));
  // Of the two that are left, one has 5/8.
  EXPECT_EQ(tokens({.temperature = 1, .top_k = 2, .top_p = 0.6}), (Tokens{1}));
}

// As many as no sorting of the first few covers: all are possible, and only those.
TEST(Sampler, TopPOfManyEquals) {
  const Logits logits(1000, 1.0f);
  const auto times = drawn({.temperature = 1, .top_p = 0.5, .seed = 9}, logits, 20000);
  EXPECT_EQ(times.size(), 500u);
  EXPECT_LT(times.rbegin()->first, 500);
}

TEST(Sampler, SeedDecides) {
  const Logits logits(50, 0.0f);
  const auto row = [&](std::uint64_t seed) {
    Sampler sampler({.temperature = 1, .seed = seed});
    std::vector<std::int64_t> tokens;
    for (int i = 0; i < 20; ++i) tokens.push_back(sampler.pick(logits));
    return tokens;
  };
  EXPECT_EQ(row(1), row(1));
  EXPECT_NE(row(1), row(2));
}

TEST(Sampler, RefusesWhatMakesNoSense) {
  const auto refused = [](const SamplingOptions& options) {
    return refusal_of([&] { Sampler sampler(options); });
  };
  EXPECT_EQ(refused({.temperature = -1}), "a temperature is from 0 to 100, not -1");
  EXPECT_EQ(refused({.temperature = NAN}), "a temperature is from 0 to 100, not nan");
  EXPECT_EQ(refused({.top_k = -3}), "top-k is at least 0, not -3");
  EXPECT_EQ(refused({.top_p = 0}), "top-p is above 0 and at most 1, not 0");
  EXPECT_EQ(refused({.top_p = 1.5}), "top-p is above 0 and at most 1, not 1.5");
  EXPECT_EQ(refusal_of([] {
              Sampler({}).pick(Logits{1, NAN});
            }),
            "the model's logits are not finite: token 1 has nan");
  EXPECT_EQ(refusal_of([] { Sampler({}).pick(Logits{INFINITY}); }),
            "the model's logits are not finite: token 0 has inf");
}

}  // namespace
}  // namespace assay::models
