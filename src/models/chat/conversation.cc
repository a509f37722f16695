// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/chat/conversation.h"

#include <algorithm>

#include "base/error.h"
#include "models/tokenizer/utf8.h"

namespace assay::models {

Conversation::Conversation(Session& session, const Tokenizer& tokenizer,
                           const ChatTemplate& chat_template, std::string system)
    : session_(session),
      tokenizer_(tokenizer),
      template_(chat_template),
      system_(std::move(system)) {
  check_utf8(system_, "the system message");
  reset();
}

void Conversation::reset() {
  messages_.clear();
  if (!system_.empty()) messages_.push_back({"system", system_});
}

std::string Conversation::take_back() {
  if (messages_.empty() || messages_.back().role != "assistant") return {};
  messages_.pop_back();
  auto message = std::move(messages_.back().content);
  messages_.pop_back();
  return message;
}

// An answer is a text that has several spellings in tokens, and encoding it again gives the
// shortest, which need not be what the model said. So where the prompt goes on from a text whose
// tokens are known, those stay, and only the rest is encoded.
std::vector<std::int64_t> Conversation::tokens_of(const std::string& prompt) const {
  std::vector<std::int64_t> tokens;
  std::string_view rest = prompt;
  if (!text_.empty() && rest.starts_with(text_)) {
    tokens = tokens_;
    rest.remove_prefix(text_.size());
  }
  const auto ids = tokenizer_.encode(rest, false);
  tokens.insert(tokens.end(), ids.begin(), ids.end());
  return tokens;
}

Answer Conversation::ask(std::string_view message, GenerateOptions options, std::time_t now,
                         const std::function<bool(const std::string&)>& on_text) {
  check_utf8(message, "the message");
  auto messages = messages_;
  messages.push_back({"user", std::string(message)});
  const auto prompt = template_.render(messages, true, now);
  const auto tokens = tokens_of(prompt);
  if (tokens.empty()) fail("the chat template makes no text of the messages");
  const auto context = static_cast<std::size_t>(session_.limits().context);
  if (tokens.size() > context) {
    fail(
        "the conversation has {} tokens, and the context holds {}: begin anew (/reset) or ask for "
        "more (--context)",
        tokens.size(), context);
  }

  Answer answer;
  answer.prompt = tokens;
  const auto same = std::ranges::mismatch(tokens_, tokens).in2 - tokens.begin();
  // One token is always read, since its logits are asked for.
  const auto kept = std::min({static_cast<std::int64_t>(same),
                              static_cast<std::int64_t>(tokens.size()) - 1, session_.position()});
  answer.reused_tokens = static_cast<std::size_t>(kept);
  session_.rewind(kept);
  // All that is certain until this ends well.
  tokens_.resize(answer.reused_tokens);
  text_.clear();

  TokenDecoder decoder(tokenizer_);
  const auto say = [&](const std::string& piece) {
    answer.text += piece;
    return piece.empty() || !on_text || on_text(piece);
  };
  options.said_before = tokens_;
  options.on_token = [&, also = options.on_token](std::int64_t token) {
    const bool goes_on = say(decoder.push(static_cast<TokenId>(token)));
    return (!also || also(token)) && goes_on;
  };
  answer.said = generate(session_, std::span(tokens).subspan(answer.reused_tokens), options);
  say(decoder.finish());

  auto said = answer.said.tokens;
  const auto is_special = [this](std::int64_t token) {
    return tokenizer_.is_special(static_cast<TokenId>(token));
  };
  if (answer.said.stop == StopReason::kEndToken && is_special(said.back())) said.pop_back();
  tokens_ = tokens;
  tokens_.insert(tokens_.end(), said.begin(), said.end());
  // A special token within the answer is not part of its text.
  if (std::ranges::none_of(said, is_special)) text_ = prompt + answer.text;
  messages.push_back({"assistant", answer.text});
  messages_ = std::move(messages);
  return answer;
}

}  // namespace assay::models
