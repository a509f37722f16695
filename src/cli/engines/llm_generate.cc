// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/engines/interrupted_text.h"
#include "cli/engines/kept_search.h"
#include "cli/engines/llm.h"
#include "cli/engines/llm_device.h"
#include "cli/program.h"
#include "models/chat/chat_template.h"
#include "models/session/generate.h"
#include "models/session/sampling_config.h"
#include "models/session/searched_program.h"
#include "models/tokenizer/tokenizer.h"

namespace assay::cli {
namespace {

// A prompt that was typed as a text gets a text for an answer, one that was typed as tokens tokens.
class Speech {
 public:
  explicit Speech(const LlmArguments& a) : prompt_(a.tokens) {
    if (!a.prompt) return;
    tokenizer_.emplace(models::Tokenizer::from_file(a.model));
    decoder_.emplace(*tokenizer_);
    const auto ids =
        a.chat ? tokenizer_->encode(as_message(a), false) : tokenizer_->encode(*a.prompt);
    prompt_.assign(ids.begin(), ids.end());
  }
  const std::vector<std::int64_t>& prompt() const { return prompt_; }
  bool is_text() const { return tokenizer_.has_value(); }

  // What a token adds to what was said.
  std::string next(std::int64_t token) {
    if (decoder_) return decoder_->push(static_cast<models::TokenId>(token));
    return fmt::format("{}{}", std::exchange(is_first_, false) ? "" : ",", token);
  }
  std::string last() { return decoder_ ? decoder_->finish() : std::string(); }

 private:
  // The prompt as what a user says, in the words that the model was taught to hear.
  static std::string as_message(const LlmArguments& a) {
    std::vector<models::Message> messages;
    if (!a.system.empty()) messages.push_back({"system", a.system});
    messages.push_back({"user", *a.prompt});
    return models::ChatTemplate::from_folder(a.model).render(messages, true, std::time(nullptr));
  }

  std::vector<std::int64_t> prompt_;
  std::optional<models::Tokenizer> tokenizer_;
  std::optional<models::TokenDecoder> decoder_;
  bool is_first_ = true;
};

models::GraphLimits limits_of(const LlmArguments& a, const models::ModelConfig& config,
                              std::size_t prompt) {
  if (a.max_tokens < 1) fail("--max-tokens is at least 1, not {}", a.max_tokens);
  // Programs for a few lengths, not for each: rounded up, as far as the model goes.
  const auto most = config.max_positions;
  const auto read = std::min(static_cast<std::int64_t>(prompt), most);
  const auto wanted = read + std::min(a.max_tokens, most - read);
  models::GraphLimits limits;
  limits.context = a.context.value_or(std::min((wanted + 255) / 256 * 256, most));
  limits.chunk = a.chunk.value_or(std::min(limits.chunk, limits.context));
  return limits;
}

}  // namespace

models::Session session_of(const LlmArguments& a, const models::LoadedModel& model,
                           const models::GraphLimits& limits) {
  const auto runtime = llm_runtime(a);
  if (!a.search) return model.session(limits, runtime, compiler::options_from_environment());
  if (*a.search < 0) fail("--search: candidates, 0 or more, got {}", *a.search);
  if (!(a.search_seconds >= 0)) fail("--search-seconds: 0 or more, got {}", a.search_seconds);
  auto options = kept_search();
  options.candidates = *a.search;
  options.seconds = a.search_seconds;
  options.seed = a.search_seed;
  auto [program, found] = models::searched_program(model, limits, runtime, options);
  fmt::print(stderr, "search: {} programs tried now, {} before, {}; {:.3f} times as fast\n",
             found.tried, found.from_before, format_seconds(found.seconds), found.speedup);
  return {model.config, model.weights, limits, std::move(program), runtime};
}

models::SamplingOptions sampling_of(const LlmArguments& a) {
  auto options = models::read_sampling_config(a.model);
  options.seed = a.seed;
  if (a.temperature) options.temperature = *a.temperature;
  if (a.top_k) options.top_k = *a.top_k;
  if (a.top_p) options.top_p = *a.top_p;
  if (a.min_p) options.min_p = *a.min_p;
  if (a.repetition_penalty) options.repetition_penalty = *a.repetition_penalty;
  return options;
}

std::string pace_of(const models::Generation& said) {
  std::string rest;
  if (said.tokens.size() > 1) {
    rest = fmt::format("; {} more at {}", said.tokens.size() - 1,
                       format_rate(said.rate(), "tokens/s"));
  }
  return fmt::format("first token after {}{}; stopped by {}", format_seconds(said.first_s), rest,
                     models::name_of(said.stop));
}

int generate_tokens(const LlmArguments& a) {
  const auto begin = monotonic_ns();
  if (a.tokens.empty() == !a.prompt) fail("give a prompt by --prompt or by --tokens");
  if (!a.system.empty() && !a.chat) fail("--system belongs to --chat");
  if (a.chat && !a.prompt) fail("--chat is about a --prompt: tokens are read as they are");
  const models::LoadedModel model(a.model);
  Speech speech(a);
  auto session = session_of(a, model, limits_of(a, model.config, speech.prompt().size()));
  const double ready_s = static_cast<double>(monotonic_ns() - begin) * 1e-9;

  models::GenerateOptions options;
  options.max_tokens = a.max_tokens;
  options.sampling = sampling_of(a);
  if (!a.ignore_end) options.end_tokens = model.config.end_tokens;
  const bool streams = a.stream && !a.json;
  std::string text;
  const auto say = [&](const std::string& piece) {
    text += piece;
    if (!streams) return;
    put_text({}, piece);
    std::fflush(stdout);
  };
  const InterruptedText interrupt;
  options.on_token = [&](std::int64_t token) {
    say(speech.next(token));
    return !interrupt.is_interrupted() && std::ferror(stdout) == 0;  // or nobody listens
  };
  options.is_interrupted = [&] { return interrupt.is_interrupted(); };
  const auto said = models::generate(session, speech.prompt(), options);
  say(speech.last());

  if (a.json) {
    Json json = {{"prompt", speech.prompt()},
                 {"tokens", said.tokens},
                 {"stop", models::name_of(said.stop)},
                 {"ready_s", ready_s},
                 {"first_token_s", said.first_s},
                 {"tokens_per_s", said.rate()},
                 {"weights_bytes", model.weights.bytes()},
                 {"weights_copied_bytes", model.weights.copied_bytes()},
                 {"cache_bytes", session.cache_bytes()}};
    if (speech.is_text()) json["text"] = text;
    print(pretty_json(json) + "\n");
  } else {
    put_text({}, streams ? "\n" : text + "\n");
  }
  if (said.tokens.empty()) {
    fmt::print(stderr, "interrupted with {} of {} tokens of the prompt read\n", session.position(),
               speech.prompt().size());
    return kInterrupted;
  }
  fmt::print(stderr, "{} read, {}; ready after {}, weights {}, caches {}\n", speech.prompt().size(),
             pace_of(said), format_seconds(ready_s),
             format_bytes(static_cast<double>(model.weights.bytes())),
             format_bytes(static_cast<double>(session.cache_bytes())));
  return said.stop == models::StopReason::kInterrupted ? kInterrupted : kFine;
}

}  // namespace assay::cli
