// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Messages to and fro, with one cache: of each turn only what is new is read.

#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/chat/chat_template.h"
#include "models/session/generate.h"
#include "models/tokenizer/tokenizer.h"

namespace assay::models {

struct Answer {
  std::string text;  // also where it was interrupted; without special tokens
  Generation said;
  std::vector<std::int64_t> prompt;  // the whole conversation, up to the answer
  std::size_t reused_tokens = 0;     // of those, what was in the cache
};

class Conversation {
 public:
  // All live as long. `system` may be empty: then there is no such message.
  Conversation(Session& session, const Tokenizer& tokenizer, const ChatTemplate& chat_template,
               std::string system);

  // What the model says to `message`, as options.sampling and the others have it; `on_text` is
  // called with each piece as it comes, valid UTF-8, and ends the answer by false. Message and
  // answer become part of the conversation. Throws UserError, and the conversation is as it was,
  // where the template refuses it or the context does not hold it.
  Answer ask(std::string_view message, GenerateOptions options, std::time_t now,
             const std::function<bool(const std::string&)>& on_text);

  // Forgets all but the system message.
  void reset();
  // Forgets the last message and its answer. Returns the message; empty where there is none.
  std::string take_back();

  const std::vector<Message>& messages() const { return messages_; }

 private:
  std::vector<std::int64_t> tokens_of(const std::string& prompt) const;

  Session& session_;
  const Tokenizer& tokenizer_;
  const ChatTemplate& template_;
  std::string system_;
  std::vector<Message> messages_;
  std::vector<std::int64_t> tokens_;  // what was read and said; the session's cache has the first
  std::string text_;                  // of which they are the tokens; empty where there is none
};

}  // namespace assay::models
