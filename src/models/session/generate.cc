// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/session/generate.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/error.h"

namespace assay::models {
namespace {

constexpr auto kStopReasons = make_names<StopReason>({{StopReason::kMaxTokens, "max-tokens"},
                                                      {StopReason::kEndToken, "end-token"},
                                                      {StopReason::kContext, "context"},
                                                      {StopReason::kInterrupted, "interrupted"}});

double seconds_since(std::int64_t begin_ns) {
  return static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
}

}  // namespace

std::string_view name_of(StopReason reason) { return kStopReasons[reason]; }

Generation generate(Session& session, std::span<const std::int64_t> prompt,
                    const GenerateOptions& options) {
  if (options.max_tokens < 1) fail("at least one token, not {}", options.max_tokens);
  Sampler sampler(options.sampling);
  sampler.see(options.said_before);
  sampler.see(prompt);
  Generation result;
  const auto begin = monotonic_ns();
  session.interrupt_when(options.is_interrupted);
  // The likeliest is found where the logits are.
  const bool is_greedy = options.sampling.temperature == 0 &&
                         options.sampling.repetition_penalty == 1 && !session.limits().all_logits;
  const auto next = [&](std::span<const std::int64_t> tokens) -> std::optional<std::int64_t> {
    try {
      if (is_greedy) {
        session.read(tokens);
        return session.likeliest();
      }
      // With all logits those of the last token stand last.
      return sampler.pick(session.extend(tokens).last(static_cast<std::size_t>(session.vocab())));
    } catch (const Interrupted&) {
      return std::nullopt;
    }
  };
  auto picked = next(prompt);
  for (;;) {
    if (!picked) {
      result.stop = StopReason::kInterrupted;
      return result;
    }
    const auto token = *picked;
    if (result.tokens.empty()) result.first_s = seconds_since(begin);
    result.tokens.push_back(token);
    result.rest_s = seconds_since(begin) - result.first_s;
    if (options.on_token && !options.on_token(token)) {
      result.stop = StopReason::kInterrupted;
    } else if (std::ranges::find(options.end_tokens, token) != options.end_tokens.end()) {
      result.stop = StopReason::kEndToken;
    } else if (static_cast<std::int64_t>(result.tokens.size()) == options.max_tokens) {
      result.stop = StopReason::kMaxTokens;
    } else if (session.position() == session.limits().context) {
      result.stop = StopReason::kContext;
    } else {
      picked = next({&token, 1});
      continue;
    }
    return result;
  }
}

}  // namespace assay::models
