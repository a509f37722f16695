// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include "base/input_file.h"
#include "cli/commands.h"
#include "cli/engines/llm.h"
#include "cli/program.h"
#include "models/chat/chat_template.h"

namespace assay::cli {

int show_prompt(const LlmArguments& a) {
  using models::jinja::Value;
  const auto read = [](const std::string& path) {
    return models::jinja::value_from_json(read_input_file(path), path);
  };
  const auto text = models::ChatTemplate::from_folder(a.model).render(
      {{"messages", read(a.messages)},
       {"tools", a.tools.empty() ? Value::none() : read(a.tools)},
       {"documents", Value::none()},
       {"add_generation_prompt", Value::truth(true)}},
      std::time(nullptr));
  put_text({}, text);
  return kFine;
}

}  // namespace assay::cli
