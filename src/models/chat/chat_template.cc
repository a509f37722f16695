// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/chat/chat_template.h"

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/input_file.h"
#include "base/json.h"
#include "models/config/json_field.h"

namespace assay::models {
namespace {

std::optional<Json> json_in(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  auto json = parse_json(read_input_file(path), path);
  JsonField(json, path).object();
  return json;
}

// The field chat_template: a text, or several with names.
std::optional<std::string> template_in(const Json& json, const std::string& path) {
  const auto field = JsonField(json, path).find("chat_template");
  if (!field) return std::nullopt;
  if (!field->value().is_array()) return field->text();
  for (const auto& one : field->elements()) {
    if (one["name"].text() == "default") return one["template"].text();
  }
  field->refuse("none of the templates is called default");
}

// bos_token and others: texts, or objects with a text in them.
jinja::Variables special_tokens_in(const Json& json, jinja::Work& work) {
  jinja::Variables tokens;
  for (const auto& [name, value] : json.items()) {
    if (!name.ends_with("_token")) continue;
    const Json* text = &value;
    if (value.is_object() && value.contains("content")) text = &value.at("content");
    if (text->is_string()) tokens[name] = jinja::Value::text(text->get<std::string>(), work);
  }
  return tokens;
}

}  // namespace

ChatTemplate ChatTemplate::from_folder(const std::string& folder) {
  const auto config_path = folder + "/tokenizer_config.json";
  const auto config = json_in(config_path);
  jinja::Variables tokens;
  if (config) {
    jinja::Work work(config_path);
    tokens = special_tokens_in(*config, work);
  }
  const auto own_path = folder + "/chat_template.jinja";
  std::error_code error;
  if (std::filesystem::exists(own_path, error)) {
    return {jinja::Template(read_input_file(own_path), own_path), std::move(tokens)};
  }
  if (config) {
    if (const auto text = template_in(*config, config_path)) {
      return {jinja::Template(*text, config_path + ": chat_template"), std::move(tokens)};
    }
  }
  const auto other_path = folder + "/chat_template.json";
  if (const auto other = json_in(other_path)) {
    if (const auto text = template_in(*other, other_path)) {
      return {jinja::Template(*text, other_path), std::move(tokens)};
    }
  }
  fail(
      "no chat template, neither chat_template.jinja nor in tokenizer_config.json: this model "
      "cannot be talked to ('{}')",
      folder);
}

std::string ChatTemplate::render(jinja::Variables variables, std::time_t now) const {
  for (const auto& [name, token] : tokens_) variables.try_emplace(name, token);
  return text_.render(variables, now);
}

std::string ChatTemplate::render(std::span<const Message> messages, bool asks_for_answer,
                                 std::time_t now) const {
  using jinja::Value;
  jinja::Work work("messages");
  jinja::Values list;
  for (const auto& [role, content] : messages) {
    list.push_back(Value::dict({{Value::text("role", work), Value::text(role, work)},
                                {Value::text("content", work), Value::text(content, work)}},
                               work));
  }
  return render({{"messages", Value::list(std::move(list), work)},
                 {"add_generation_prompt", Value::truth(asks_for_answer)},
                 {"tools", Value::none()},
                 {"documents", Value::none()}},
                now);
}

}  // namespace assay::models
