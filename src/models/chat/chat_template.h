// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a model wants to be talked to: its chat template turns messages into the text that it was
// trained to go on from.

#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "models/jinja/template.h"

namespace assay::models {

struct Message {
  std::string role, content;  // "system", "user" or "assistant", and UTF-8
};

class ChatTemplate {
 public:
  // The template of a model's folder: chat_template.jinja, or else the field chat_template of
  // tokenizer_config.json (of several the one called default) or of chat_template.json. It is told
  // the special tokens that tokenizer_config.json names (bos_token, …). Throws UserError that names
  // the file: no template, none that can be read (jinja/template.h).
  static ChatTemplate from_folder(const std::string& folder);

  // The text of messages; with `asks_for_answer` up to where the assistant begins to speak. It
  // contains the special tokens: encode it without others around it. Throws UserError by what the
  // template refuses.
  std::string render(std::span<const Message> messages, bool asks_for_answer,
                     std::time_t now) const;
  // The same with variables of one's own: messages, tools, add_generation_prompt, ….
  std::string render(jinja::Variables variables, std::time_t now) const;

 private:
  ChatTemplate(jinja::Template text, jinja::Variables tokens)
      : text_(std::move(text)), tokens_(std::move(tokens)) {}
  jinja::Template text_;
  jinja::Variables tokens_;
};

}  // namespace assay::models
