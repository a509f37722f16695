// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "cli/arguments/arguments_add.h"

namespace assay::cli {

void keep_options(CLI::App& app, std::vector<std::string>& words) {
  app.parse_complete_callback([&app, &words] {
    words.clear();
    for (const auto* command = &app; command != nullptr; command = command->get_parent()) {
      words.insert(words.begin(), command->get_name());
    }
    for (const auto* option : app.get_options()) {
      if (option->count() == 0 || option->get_positional()) continue;
      words.push_back(option->get_name());
      const bool is_flag = option->get_items_expected_max() == 0;
      if (!is_flag) words.push_back(fmt::format("{}", fmt::join(option->results(), ",")));
    }
  });
}

}  // namespace assay::cli
