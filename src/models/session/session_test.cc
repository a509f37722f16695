// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/choose/candidate.h"
#include "compiler/choose/compile.h"
#include "compiler/cpu/cpu_runtime.h"
#include "compiler/verify/verifier.h"
#include "models/session/generate.h"
#include "models/testing/model_folder.h"

namespace assay::models {
namespace {

using testing::HasSubstr;

class OfFamily : public testing::TestWithParam<Family> {
 protected:
  OfFamily() : folder_(GetParam()), model_(folder_.path()) {}

  std::vector<float> logits_in_chunks(std::span<const std::int64_t> tokens, std::int64_t chunk,
                                      int threads = 2) const {
    auto session = session_of(
        model_,
        {.context = static_cast<std::int64_t>(tokens.size()), .chunk = chunk, .all_logits = true},
        threads);
    const auto logits = session.extend(tokens);
    return {logits.begin(), logits.end()};
  }

  const ModelFolder folder_;
  const LoadedModel model_;
};
INSTANTIATE_TEST_SUITE_P(Session, OfFamily, testing::ValuesIn(kAllFamilies), [](const auto& given) {
  std::string name(name_of(given.param));
  std::erase(name, '-');
  return name;
});

double largest_difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    EXPECT_FALSE(std::isnan(difference));
    most = std::max(most, difference);
  }
  return most;
}

// Sums of at most 160 terms of size about 1, in another order, through six layers: measured below
// 2e-5; a token in a wrong place makes differences of 1.
constexpr double kOrderOfSums = 1e-4;

// Longer than windows (16), so that they cut something off.
TEST_P(OfFamily, ChunksDoNotMatter) {
  const auto tokens = some_tokens(model_.config.vocab, 41);
  const auto whole = logits_in_chunks(tokens, 41);
  for (const std::int64_t chunk : {1, 7, 40}) {
    EXPECT_LE(largest_difference(logits_in_chunks(tokens, chunk), whole), kOrderOfSums) << chunk;
  }
}

TEST_P(OfFamily, ThreadsDoNotMatter) {
  const auto tokens = some_tokens(model_.config.vocab, 11);
  EXPECT_LE(largest_difference(logits_in_chunks(tokens, 11, 1), logits_in_chunks(tokens, 11, 3)),
            kOrderOfSums);
}

// The program that is used is held to the interpreter's loops, on inputs by chance.
TEST_P(OfFamily, ProgramComputesTheGraph) {
  const GraphLimits limits{.context = 9, .chunk = 5};
  const auto graph = model_graph(model_.config, model_.weights, limits);
  compiler::Verifier verifier(graph, {});
  const auto mistake =
      verifier.mistake_of(compiler::compile_default(graph), compiler::cpu_runtime(2));
  EXPECT_FALSE(mistake) << *mistake;
  EXPECT_GT(verifier.coverage().bounded, verifier.coverage().elements / 2);
}

TEST_P(OfFamily, CalledAgainSaysTheSame) {
  auto session = session_of(model_, {.context = 24, .chunk = 8});
  const auto tokens = some_tokens(model_.config.vocab, 20);
  const auto ask = [&] {
    const auto logits = session.extend(tokens);
    return std::vector<float>(logits.begin(), logits.end());
  };
  const auto first = ask();
  EXPECT_EQ(first.size(), static_cast<std::size_t>(model_.config.vocab));
  EXPECT_EQ(session.position(), 20);
  session.reset();
  EXPECT_EQ(ask(), first);
  // What was there before does not shine through.
  session.reset();
  session.extend(some_tokens(model_.config.vocab, 24, 2));
  session.reset();
  EXPECT_EQ(ask(), first);
}

TEST_P(OfFamily, LastLogitsAreThoseOfTheLastToken) {
  const auto tokens = some_tokens(model_.config.vocab, 13);
  const auto all = logits_in_chunks(tokens, 13);
  auto session = session_of(model_, {.context = 13, .chunk = 13});
  const auto last = session.extend(tokens);
  EXPECT_LE(largest_difference(last, std::span(all).last(last.size())), kOrderOfSums);
}

TEST(Session, RefusesWhatDoesNotFit) {
  const ModelFolder folder(Family::kLlama);
  const LoadedModel model(folder.path());
  auto session = session_of(model, {.context = 8, .chunk = 3});
  const auto refused = [&](std::vector<std::int64_t> tokens) {
    return refusal_of([&] { session.extend(tokens); });
  };
  EXPECT_EQ(refused({}), "no tokens to go on from");
  EXPECT_EQ(refused({1, 512}), "tokens of this model are from 0 to 511, not 512");
  EXPECT_EQ(refused({-1}), "tokens of this model are from 0 to 511, not -1");
  session.extend(std::vector<std::int64_t>{1, 2, 3, 4, 5});
  EXPECT_EQ(refused({1, 2, 3, 4}),
            "a context of 8 tokens, of which 5 are taken, does not hold 4 more");
  EXPECT_EQ(session.position(), 5);
  session.extend(std::vector<std::int64_t>{1, 2, 3});
  EXPECT_EQ(session.position(), 8);
  EXPECT_THAT(refused({1}), HasSubstr("of which 8 are taken"));
  EXPECT_EQ(refusal_of([&] { session_of(model, {.context = 4096, .chunk = 3}); }),
            "the model knows a context of 1 to 2048 tokens, not 4096");
  EXPECT_EQ(refusal_of([&] { session_of(model, {.context = 8, .chunk = 9}); }),
            "tokens are read 1 to 8 at a time, not 9");
}

TEST(Session, CachesAreOverwrittenInPlace) {
  const ModelFolder folder(Family::kQwen3);
  const LoadedModel model(folder.path());
  const auto session = session_of(model, {.context = 64, .chunk = 8});
  for (const auto& kernel : session.executor().program().kernels) {
    if (const auto* work = std::get_if<compiler::ScatterInto>(&kernel.work)) {
      EXPECT_TRUE(work->in_place);
    }
  }
  // 4 layers of keys and values, f32, 2 heads of 32.
  EXPECT_EQ(session.cache_bytes(), 4 * 2 * 2 * 32 * 4 * (64 - 1 + 8));
}

TEST(Session, LayersShareTheirKernels) {
  const ModelFolder folder(Family::kLlama);
  const LoadedModel model(folder.path());
  const auto session = session_of(model, {.context = 64, .chunk = 8});
  const auto& program = session.executor().program();
  EXPECT_LT(program.kernels.size(), program.steps.size() / 2);
}

TEST(Generate, StopsForEachReason) {
  const ModelFolder folder(Family::kQwen3);
  const LoadedModel model(folder.path());
  auto session = session_of(model, {.context = 16, .chunk = 8});
  const std::vector<std::int64_t> prompt = {5, 6, 7};
  const auto said = [&](GenerateOptions options) {
    session.reset();
    return generate(session, prompt, options);
  };
  const auto all = said({.max_tokens = 6});
  EXPECT_EQ(all.tokens.size(), 6u);
  EXPECT_EQ(name_of(all.stop), "max-tokens");
  const auto context = said({.max_tokens = 100});
  EXPECT_EQ(name_of(context.stop), "context");
  EXPECT_EQ(context.tokens.size(), 16u - 3u + 1u);  // the last one needs no place
  const auto ended = said({.max_tokens = 100, .end_tokens = {-1, all.tokens[0]}});
  EXPECT_EQ(name_of(ended.stop), "end-token");
  EXPECT_EQ(ended.tokens, std::vector<std::int64_t>{all.tokens[0]});
  int told = 0;
  const auto interrupted =
      said({.max_tokens = 100, .on_token = [&](std::int64_t) { return ++told < 3; }});
  EXPECT_EQ(name_of(interrupted.stop), "interrupted");
  EXPECT_EQ(interrupted.tokens,
            std::vector<std::int64_t>(all.tokens.begin(), all.tokens.begin() + 3));
  EXPECT_EQ(refusal_of([&] { said({.max_tokens = 0}); }), "at least one token, not 0");
}

// Other kernels, other buffers: sums in another order, the same text.
TEST(Generate, SearchedProgramsSayTheSame) {
  for (const auto family : {Family::kQwen3, Family::kGemma4}) {
    const ModelFolder folder(family);
    const LoadedModel model(folder.path());
    const GraphLimits limits{.context = 40, .chunk = 8};
    const auto graph = model_graph(model.config, model.weights, limits);
    const auto runtime = compiler::cpu_runtime(2);
    const auto said = [&](compiler::Program program) {
      Session session(model.config, model.weights, limits, std::move(program), runtime);
      return generate(session, some_tokens(model.config.vocab, 12), {.max_tokens = 28}).tokens;
    };
    const auto expected = said(compiler::compile_default(graph));
    const compiler::Candidates candidates(graph, {});
    // As different as it gets: no product does anything else, and every node has a buffer.
    compiler::Genome plain;
    plain.epilogues = plain.shares = false;
    const auto freedom = candidates.freedom({}, runtime);
    plain.kept.insert(freedom.nodes.begin(), freedom.nodes.end());
    EXPECT_EQ(said(candidates.program(plain, runtime)), expected) << name_of(family);
    compiler::Genome other;
    for (const auto& [signature, variants] : freedom.kernels) {
      if (variants > 1) other.variants[signature] = variants - 1;
    }
    EXPECT_FALSE(other.variants.empty());
    EXPECT_EQ(said(candidates.program(other, runtime)), expected) << name_of(family);
  }
}

// Between two steps of a program: what was read before in whole chunks stays, and the session goes
// on as if nothing had been asked of it.
TEST(Session, EndsWhereItIsInterrupted) {
  const ModelFolder folder(Family::kQwen3);
  const LoadedModel model(folder.path());
  auto session = session_of(model, {.context = 24, .chunk = 4});
  const std::vector<std::int64_t> tokens = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
  const auto all = session.extend(tokens);
  const std::vector<float> expected(all.begin(), all.end());
  session.reset();
  const auto steps = session.executor().program().steps.size();
  std::size_t asked = 0;
  session.interrupt_when([&] { return ++asked == steps + 3; });  // in the second chunk
  EXPECT_THROW(session.extend(tokens), Interrupted);
  EXPECT_EQ(session.position(), 4);
  const auto rest = session.extend(std::span(tokens).subspan(4));
  EXPECT_EQ(std::vector<float>(rest.begin(), rest.end()), expected);
  session.rewind(7);
  EXPECT_EQ(session.position(), 7);
  const auto again = session.extend(std::span(tokens).subspan(7));
  EXPECT_LE(largest_difference(again, expected), kOrderOfSums);
}

TEST(Generate, KeepsWhatWasSaidWhenInterrupted) {
  const ModelFolder folder(Family::kLlama);
  const LoadedModel model(folder.path());
  auto session = session_of(model, {.context = 40, .chunk = 8});
  const std::vector<std::int64_t> prompt = {5, 6, 7};
  const auto whole = generate(session, prompt, {.max_tokens = 6}).tokens;
  const auto steps = session.executor().program().steps.size();
  // While the prompt is read; while the fourth token's successor is.
  for (const std::size_t calls : {std::size_t{0}, std::size_t{4}}) {
    session.reset();
    std::size_t asked = 0;
    GenerateOptions options{.max_tokens = 6};
    options.is_interrupted = [&] { return ++asked > calls * steps + 2; };
    const auto said = generate(session, prompt, options);
    EXPECT_EQ(said.stop, StopReason::kInterrupted);
    EXPECT_EQ(said.tokens, std::vector(whole.begin(), whole.begin() + static_cast<int>(calls)));
  }
}

TEST(Generate, SeedDecides) {
  const ModelFolder folder(Family::kLlama);
  const LoadedModel model(folder.path());
  auto session = session_of(model, {.context = 40, .chunk = 8});
  const auto said = [&](std::uint64_t seed) {
    session.reset();
    const std::vector<std::int64_t> prompt = {5, 6, 7};
    return generate(session, prompt,
                    {.max_tokens = 30, .sampling = {.temperature = 1, .seed = seed}})
        .tokens;
  };
  EXPECT_EQ(said(1), said(1));
  EXPECT_NE(said(1), said(2));
}

}  // namespace
}  // namespace assay::models
