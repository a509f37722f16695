// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Token after token, until something ends it.

#include <functional>
#include <vector>

#include "base/names.h"
#include "models/session/sampler.h"
#include "models/session/session.h"

namespace assay::models {

enum class StopReason : std::uint8_t { kMaxTokens, kEndToken, kContext, kInterrupted };
// "max-tokens", "end-token", "context", "interrupted".
std::string_view name_of(StopReason reason);

struct GenerateOptions {
  std::int64_t max_tokens = 128;
  SamplingOptions sampling;
  std::vector<std::int64_t> end_tokens;
  std::vector<std::int64_t> said_before;  // what the session holds, for the repetition penalty
  // Called with each token as it is chosen; false ends it all.
  std::function<bool(std::int64_t)> on_token;
  // Asked again and again while a prompt or a token is read; true ends it at once.
  std::function<bool()> is_interrupted;
};

struct Generation {
  std::vector<std::int64_t> tokens;  // an end token included; none if the prompt was not read
  StopReason stop = StopReason::kMaxTokens;
  double first_s = 0;  // from the beginning to the first token
  double rest_s = 0;   // from there to the last

  // Tokens a second behind the first; 0 where there are none.
  double rate() const {
    const auto behind = static_cast<double>(tokens.size()) - 1;
    return behind > 0 && rest_s > 0 ? behind / rest_s : 0;
  }
};

// Puts the prompt behind what the session holds, then what the model says of it. Throws UserError
// as Session::extend() and Sampler do.
Generation generate(Session& session, std::span<const std::int64_t> prompt,
                    const GenerateOptions& options);

}  // namespace assay::models
