// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// print_prompts: each line of standard input is JSON, {"template": text, "variables": {…}}; prints
// a line of JSON for each, {"text": …} or {"error": …}. For the comparison with jinja2
// (tests/peers).
#include <ctime>
#include <iostream>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "models/jinja/template.h"

int main() {
  using namespace assay;                 // NOLINT: a program of one file
  using namespace assay::models::jinja;  // NOLINT
  for (std::string line; std::getline(std::cin, line);) {
    Json told;
    try {
      const auto given = parse_json(line, "line");
      Variables variables;
      const auto value = value_from_json(line, "line");
      for (const auto& [name, part] : value.dict()->items) {
        if (*name.text() != "variables") continue;
        for (const auto& [key, held] : part.dict()->items) variables[*key.text()] = held;
      }
      const Template text(given.at("template").get<std::string>(), "template");
      told = {{"text", text.render(variables, std::time(nullptr))}};
    } catch (const std::exception& error) {
      told = {{"error", error.what()}};
    }
    std::cout << canonical_json(told) << std::endl;
  }
}
