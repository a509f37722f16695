// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/chat/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "models/init/init_model.h"
#include "models/testing/model_folder.h"
#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

constexpr GraphLimits kTalkLimits = {.context = 512, .chunk = 32};

// A tiny model with all that a conversation needs, deleted at the end.
struct TalkingModel {
  explicit TalkingModel(Family family) : path(directory.path() + "/model") {
    init_model(family, "tiny", path, {.seed = 4, .dtype = DType::kF32});
    model.emplace(path);
    tokenizer.emplace(Tokenizer::from_file(path));
  }
  Session session() const { return session_of(*model, kTalkLimits); }

  TemporaryDirectory directory{"assay-chat"};
  std::string path;
  std::optional<LoadedModel> model;
  std::optional<Tokenizer> tokenizer;
};

// What was kept in the cache changes nothing: each answer is that of the whole prompt, read anew.
TEST(Conversation, CacheIsKeptOverTurns) {
  for (const auto family : kAllFamilies) {
    const TalkingModel talking(family);
    const auto text = ChatTemplate::from_folder(talking.path);
    auto session = talking.session();
    Conversation conversation(session, *talking.tokenizer, text, "Be kind.");
    GenerateOptions options;
    options.max_tokens = 20;
    options.end_tokens = talking.model->config.end_tokens;
    std::size_t before = 0;
    for (const char* message : {"Hello!", "Grüße, 世界 ", "?", "And\nnow"}) {
      std::string streamed;
      const auto answer = conversation.ask(message, options, 0, [&](const std::string& piece) {
        EXPECT_EQ(valid_prefix(piece), piece.size());
        streamed += piece;
        return true;
      });
      EXPECT_EQ(streamed, answer.text);
      auto alone = talking.session();
      EXPECT_EQ(generate(alone, answer.prompt, options).tokens, answer.said.tokens)
          << name_of(family);
      // At least what the system said is there.
      EXPECT_GE(answer.reused_tokens, before > 0 ? 5u : 0u);
      EXPECT_LT(answer.reused_tokens, answer.prompt.size());
      before = answer.prompt.size();
    }
    EXPECT_EQ(conversation.messages().size(), 9u);
    EXPECT_EQ(conversation.take_back(), "And\nnow");
    EXPECT_EQ(conversation.messages().size(), 7u);
  }
}

// Where the template leaves an answer as it is, its tokens stay, however they spell it.
TEST(Conversation, AnswersAreNotReadAgain) {
  const TalkingModel talking(Family::kQwen3);
  const auto text = ChatTemplate::from_folder(talking.path);
  auto session = talking.session();
  Conversation conversation(session, *talking.tokenizer, text, "");
  GenerateOptions options;
  options.max_tokens = 30;
  options.sampling.temperature = 1;
  int plain = 0;
  for (; options.sampling.seed < 8; ++options.sampling.seed) {
    conversation.reset();
    const auto first = conversation.ask("Hello!", options, 0, nullptr);
    const auto second = conversation.ask("And?", options, 0, nullptr);
    // A special token has no text, so that the template cannot say it again.
    const bool is_plain = std::ranges::none_of(first.said.tokens, [&](std::int64_t id) {
      return talking.tokenizer->is_special(static_cast<TokenId>(id));
    });
    plain += is_plain ? 1 : 0;
    // All but the last token, which was chosen and not read.
    EXPECT_EQ(second.reused_tokens == first.prompt.size() + 29, is_plain);
  }
  EXPECT_GT(plain, 0);
}

TEST(Conversation, InterruptedAnswersStay) {
  const TalkingModel talking(Family::kLlama);
  const auto text = ChatTemplate::from_folder(talking.path);
  auto session = talking.session();
  Conversation conversation(session, *talking.tokenizer, text, "");
  GenerateOptions options;
  int tokens = 0;
  options.on_token = [&](std::int64_t) { return ++tokens < 5; };
  const auto answer = conversation.ask("Hello!", options, 0, nullptr);
  EXPECT_EQ(answer.said.stop, StopReason::kInterrupted);
  EXPECT_EQ(answer.said.tokens.size(), 5u);
  ASSERT_EQ(conversation.messages().size(), 2u);
  EXPECT_EQ(conversation.messages()[1].content, answer.text);
}

TEST(Conversation, RefusalsChangeNothing) {
  const TalkingModel talking(Family::kLlama);
  const auto text = ChatTemplate::from_folder(talking.path);
  auto session = talking.session();
  Conversation conversation(session, *talking.tokenizer, text, "");
  GenerateOptions options;
  options.max_tokens = 3;
  const auto first = conversation.ask("Hello!", options, 0, nullptr);
  const std::string much(4000, '-');
  EXPECT_THAT(refusal_of([&] { conversation.ask(much + "x y z", options, 0, nullptr); }),
              ::testing::HasSubstr("tokens, and the context holds 512: begin anew (/reset)"));
  EXPECT_THAT(refusal_of([&] { conversation.ask("\xff", options, 0, nullptr); }),
              ::testing::HasSubstr("the message"));
  EXPECT_EQ(conversation.messages().size(), 2u);
  conversation.reset();
  EXPECT_EQ(conversation.ask("Hello!", options, 0, nullptr).said.tokens, first.said.tokens);
}

TEST(ChatTemplate, FoundInAnyOfItsPlaces) {
  const TemporaryDirectory directory("assay-chat");
  const auto& path = directory.path();
  const std::vector<Message> messages = {{"user", "hi"}};
  const auto rendered = [&] { return ChatTemplate::from_folder(path).render(messages, true, 0); };
  EXPECT_THAT(refusal_of(rendered), ::testing::StartsWith("no chat template"));
  write_file_atomically(path + "/chat_template.json", R"({"chat_template": "a{{ bos_token }}"})");
  EXPECT_EQ(rendered(), "a");
  const auto config = [&](const char* json) {
    write_file_atomically(path + "/tokenizer_config.json", json);
  };
  config(R"({"bos_token": {"content": "<s>"}})");
  EXPECT_EQ(rendered(), "a<s>");
  config(R"({"bos_token": "<b>", "chat_template": [{"name": "tool_use", "template": "x"},
             {"name": "default", "template": "b{{ bos_token }}{{ messages[0].content }}"}]})");
  EXPECT_EQ(rendered(), "b<b>hi");
  write_file_atomically(path + "/chat_template.jinja", "c{{ add_generation_prompt }}");
  EXPECT_EQ(rendered(), "cTrue");
  write_file_atomically(path + "/chat_template.jinja", "{{ x");
  EXPECT_EQ(refusal_of(rendered), path + "/chat_template.jinja: line 1: a tag without an end");
  std::filesystem::remove(path + "/chat_template.jinja");
  config(R"({"chat_template": 3})");
  EXPECT_THAT(refusal_of(rendered), ::testing::EndsWith("chat_template: expected a text, got 3"));
  config(R"({"chat_template": []})");
  EXPECT_THAT(refusal_of(rendered), ::testing::EndsWith("none of the templates is called default"));
}

}  // namespace
}  // namespace assay::models
