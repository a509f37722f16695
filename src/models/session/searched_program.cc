// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/session/searched_program.h"

#include <algorithm>

namespace assay::models {
namespace {

// Enough for one layer to follow on another, and for the compiler to see that they repeat.
constexpr std::size_t kFewestLayers = 3;

// Its first layers, until each kind is among them.
ModelConfig shortened(ModelConfig config) {
  std::size_t count = std::min(kFewestLayers, config.layers.size());
  for (std::size_t i = count; i < config.layers.size(); ++i) {
    const auto known = config.layers.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::find(config.layers.begin(), known, config.layers[i]) == known) count = i + 1;
  }
  config.layers.resize(count);
  return config;
}

}  // namespace

SearchedProgram searched_program(const LoadedModel& model, const GraphLimits& limits,
                                 const compiler::Runtime& runtime,
                                 compiler::SearchOptions options) {
  if (options.symbols.empty()) {
    options.symbols = {{"s", 1}, {"p", std::min<std::int64_t>(128, limits.context - 1)}};
  }
  const auto part = model_graph(shortened(model.config), model.weights, limits);
  const auto whole = model_graph(model.config, model.weights, limits);
  auto found = compiler::search(part, runtime, options);
  auto program = compiler::Candidates(whole, options.compile).program(found.genome, runtime);
  return {std::move(program), std::move(found)};
}

}  // namespace assay::models
