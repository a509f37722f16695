// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/engines/cores.h"
#include "cli/engines/llm.h"
#include "cli/program.h"
#include "compiler/cpu/cpu_runtime.h"
#include "models/session/generate.h"
#include "models/session/loaded_model.h"

namespace assay::cli {
namespace {

std::atomic<bool> is_interrupted = false;

// The first Ctrl-C ends the text where it is; the second everything.
void end_text_on_interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) { is_interrupted = true; };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

models::GraphLimits limits_of(const LlmArguments& a, const models::ModelConfig& config) {
  const auto prompt = static_cast<std::int64_t>(a.tokens.size());
  if (a.max_tokens < 1) fail("--max-tokens is at least 1, not {}", a.max_tokens);
  // Programs for a few lengths, not for each: rounded up, as far as the model goes.
  const auto wanted = std::min(prompt + a.max_tokens, config.max_positions);
  const auto rounded = std::min((wanted + 255) / 256 * 256, config.max_positions);
  models::GraphLimits limits;
  limits.context = a.context.value_or(rounded);
  limits.chunk = a.chunk.value_or(std::min<std::int64_t>(limits.chunk, limits.context));
  return limits;
}

std::string joined(const std::vector<std::int64_t>& tokens) {
  return fmt::format("{}", fmt::join(tokens, ","));
}

}  // namespace

int generate_tokens(const LlmArguments& a) {
  const auto begin = monotonic_ns();
  const models::LoadedModel model(a.model);
  auto session =
      model.session(limits_of(a, model.config), compiler::cpu_runtime(threads_or_all(a.threads)),
                    compiler::options_from_environment());
  const double ready_s = static_cast<double>(monotonic_ns() - begin) * 1e-9;

  models::GenerateOptions options;
  options.max_tokens = a.max_tokens;
  options.sampling = {a.temperature, a.top_k, a.top_p, a.seed};
  if (!a.ignore_end) options.end_tokens = model.config.end_tokens;
  const bool streams = a.stream && !a.json;
  bool is_first = true;
  options.on_token = [&](std::int64_t token) {
    if (streams) {
      print(fmt::format("{}{}", is_first ? "" : ",", token));
      std::fflush(stdout);
      is_first = false;
    }
    return !is_interrupted;
  };
  end_text_on_interrupt();
  const auto said = models::generate(session, a.tokens, options);

  const auto more = static_cast<double>(said.tokens.size() - 1);
  const double rate = said.rest_s > 0 ? more / said.rest_s : 0;
  if (a.json) {
    print(pretty_json({{"prompt", a.tokens},
                       {"tokens", said.tokens},
                       {"stop", models::name_of(said.stop)},
                       {"ready_s", ready_s},
                       {"first_token_s", said.first_s},
                       {"tokens_per_s", rate},
                       {"weights_bytes", model.weights.bytes()},
                       {"weights_copied_bytes", model.weights.copied_bytes()},
                       {"cache_bytes", session.cache_bytes()}}) +
          "\n");
  } else {
    print(streams ? "\n" : joined(said.tokens) + "\n");
  }
  fmt::print(stderr,
             "{} read, first token after {}; {} more at {}; stopped by {}; ready after {}, "
             "weights {}, caches {}\n",
             a.tokens.size(), format_seconds(said.first_s), said.tokens.size() - 1,
             format_rate(rate, "tokens/s"), models::name_of(said.stop), format_seconds(ready_s),
             format_bytes(static_cast<double>(model.weights.bytes())),
             format_bytes(static_cast<double>(session.cache_bytes())));
  return said.stop == models::StopReason::kInterrupted ? kInterrupted : kFine;
}

}  // namespace assay::cli
