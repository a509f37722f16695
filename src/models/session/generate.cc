// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/session/generate.h"

#include <algorithm>

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
  const auto read = [&](std::span<const std::int64_t> tokens) -> std::span<const float> {
    try {
      return session.extend(tokens);
    } catch (const Interrupted&) {
      return {};
    }
  };
  auto logits = read(prompt);
  for (;;) {
    if (logits.empty()) {
      result.stop = StopReason::kInterrupted;
      return result;
    }
    // With all logits those of the last token stand last.
    const auto token = sampler.pick(logits.last(static_cast<std::size_t>(session.vocab())));
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
      logits = read({&token, 1});
      continue;
    }
    return result;
  }
}

}  // namespace assay::models
