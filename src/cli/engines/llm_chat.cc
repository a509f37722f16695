// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/engines/interrupted_text.h"
#include "cli/engines/llm.h"
#include "cli/program.h"
#include "models/chat/conversation.h"

namespace assay::cli {
namespace {

constexpr const char* kChatHelp =
    "/reset   begin anew (also /clear)\n"
    "/regen   say the last answer again, otherwise if it is sampled\n"
    "/exit    end (also /quit, Ctrl-D)\n"
    "/help    this\n"
    "Ctrl-C stops an answer, or leaves a line; a line that ends with \\ goes on in the next.\n";

class Chat {
 public:
  Chat(const LlmArguments& a, models::Conversation& conversation,
       const std::vector<std::int64_t>& end_tokens)
      : arguments_(a), conversation_(conversation), is_terminal_(::isatty(STDIN_FILENO) == 1) {
    if (is_terminal_) interrupt_.emplace();
    options_.max_tokens = a.max_tokens;
    options_.sampling = sampling_of(a);
    options_.end_tokens = end_tokens;
  }

  int run() {
    if (is_terminal_) fmt::print(stderr, "{}", kChatHelp);
    while (auto message = read_message()) {
      if (*message == "/exit" || *message == "/quit") break;
      if (!message->empty()) serve(*message);
      if (is_over_) return kInterrupted;
    }
    if (is_terminal_) fmt::print(stderr, "\n");
    return kFine;
  }

 private:
  // A line, or several of which all but the last end with a backslash; none: the end.
  std::optional<std::string> read_message() const {
    std::string message;
    for (;;) {
      if (is_terminal_) fmt::print(stderr, "{}", message.empty() ? "> " : "… ");
      std::string line;
      if (!read_line(line)) return message.empty() ? std::nullopt : std::optional(message);
      if (line.ends_with('\r')) line.pop_back();
      if (!line.ends_with('\\')) return message + line;
      line.back() = '\n';
      message += line;
    }
  }
  // In a terminal Ctrl-C leaves the line, not the conversation.
  bool read_line(std::string& line) const {
    while (interrupt_ && !interrupt_->wait()) fmt::print(stderr, "\nCtrl-D or /exit ends.\n> ");
    if (!std::getline(std::cin, line)) return false;
    if (!is_terminal_) return true;
    constexpr std::size_t kCut = 4095;  // what a terminal keeps of a line, without a word
    if (line.size() < kCut) return true;
    fmt::print(stderr,
               "a terminal cuts lines after {} bytes, this one is left out: end its parts with \\, "
               "or let it come from a pipe\n",
               kCut);
    line.clear();
    return true;
  }

  void serve(const std::string& message) {
    if (message == "/reset" || message == "/clear") return conversation_.reset();
    if (message == "/help") {
      fmt::print(stderr, "{}", kChatHelp);
      return;
    }
    try {
      if (message == "/regen") {
        const auto last = conversation_.take_back();
        if (last.empty()) fail("nothing was asked yet");
        ++options_.sampling.seed;
        return answer(last);
      }
      if (message.starts_with('/')) fail("no such command: {}", message);
      answer(message);
    } catch (const UserError& error) {
      // A person goes on; a script is told by the exit status.
      if (!is_terminal_) throw;
      fmt::print(stderr, "{}\n", error.what());
    }
  }

  void answer(const std::string& message) {
    const bool streams = !arguments_.json;
    const InterruptedText interrupt;
    auto options = options_;
    options.on_token = [&](std::int64_t) { return !interrupt.is_interrupted(); };
    options.is_interrupted = [&] { return interrupt.is_interrupted(); };
    const auto answer =
        conversation_.ask(message, options, std::time(nullptr), [&](const std::string& piece) {
          if (streams) {
            put_text({}, piece);
            std::fflush(stdout);
          }
          return true;
        });
    const auto& said = answer.said;
    if (streams) {
      put_text({}, "\n");
    } else {
      put_text({}, canonical_json({{"message", message},
                                   {"text", answer.text},
                                   {"tokens", said.tokens},
                                   {"stop", models::name_of(said.stop)},
                                   {"prompt_tokens", answer.prompt.size()},
                                   {"reused_tokens", answer.reused_tokens},
                                   {"first_token_s", said.first_s},
                                   {"tokens_per_s", said.rate()}}) +
                       "\n");
    }
    std::fflush(stdout);
    if (said.tokens.empty()) {
      fmt::print(stderr, "interrupted while the prompt of {} tokens was read\n",
                 answer.prompt.size());
    } else {
      fmt::print(stderr, "{} read, {} kept; {}\n", answer.prompt.size() - answer.reused_tokens,
                 answer.reused_tokens, pace_of(said));
    }
    is_over_ = interrupt.ends_program();
  }

  const LlmArguments& arguments_;
  models::Conversation& conversation_;
  const bool is_terminal_;
  std::optional<InterruptedLine> interrupt_;  // in a terminal
  models::GenerateOptions options_;
  bool is_over_ = false;
};

}  // namespace

int chat(const LlmArguments& a) {
  const auto chat_template = models::ChatTemplate::from_folder(a.model);
  const auto tokenizer = models::Tokenizer::from_file(a.model);
  const models::LoadedModel model(a.model);
  models::GraphLimits limits;
  limits.context = a.context.value_or(std::min(limits.context, model.config.max_positions));
  limits.chunk = a.chunk.value_or(std::min(limits.chunk, limits.context));
  auto session = session_of(a, model, limits);
  models::Conversation conversation(session, tokenizer, chat_template, a.system);
  return Chat(a, conversation, model.config.end_tokens).run();
}

}  // namespace assay::cli
