// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "cli/arguments/arguments_add.h"

namespace assay::cli {
namespace {

constexpr auto kPlaces = std::to_array<std::string_view>({"--account",
                                                          "--baseline",
                                                          "--constraint",
                                                          "--partition",
                                                          "--points",
                                                          "--pin-kind",
                                                          "--time",
                                                          "--booz",
                                                          "--calibration",
                                                          "--config",
                                                          "--database",
                                                          "--dot",
                                                          "--input",
                                                          "--export-json",
                                                          "--export-markdown",
                                                          "--inputs",
                                                          "--journal",
                                                          "--journals",
                                                          "--junit",
                                                          "--model",
                                                          "--op-log",
                                                          "--operands",
                                                          "--out",
                                                          "--output",
                                                          "--resume",
                                                          "--source",
                                                          "--store",
                                                          "--surface",
                                                          "--scalesim-config",
                                                          "--topology",
                                                          "--scalesim-topology",
                                                          "--trace",
                                                          "--wout"});

// As CLI11 calls what is read into them: to it no text at all is a number that is not there.
constexpr auto kNumbers = std::to_array<std::string_view>({"INT", "UINT", "FLOAT"});

constexpr auto kSources =
    std::to_array<std::string_view>({"A", "B", "source", "store", "--baseline", "--config",
                                     "--current", "--resume", "--source", "--store"});

}  // namespace

void keep_free_texts(CLI::App& app,
                     const std::function<std::string(const std::string&)>& as_typed) {
  for (auto* option : app.get_options()) {
    if (std::ranges::find(kSources, option->get_name()) != kSources.end()) continue;
    if (option->get_type_name() != "TEXT") continue;
    option->transform([as_typed](const std::string& text) { return as_typed(text); });
  }
  for (auto* sub : app.get_subcommands({})) keep_free_texts(*sub, as_typed);
}

void refuse_empty_values(CLI::App& app) {
  for (auto* option : app.get_options()) {
    if (std::ranges::find(kPlaces, option->get_name()) == kPlaces.end() &&
        std::ranges::find(kNumbers, option->get_type_name()) == kNumbers.end()) {
      continue;
    }
    option->check([](const std::string& text) {
      return text.empty() ? std::string("nothing was given") : std::string();
    });
  }
  for (auto* sub : app.get_subcommands({})) refuse_empty_values(*sub);
}

}  // namespace assay::cli
