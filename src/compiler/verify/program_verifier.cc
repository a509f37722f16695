// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/program_verifier.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "compiler/program/kernel_graph.h"
#include "compiler/program/program_json.h"
#include "compiler/verify/widened.h"

namespace assay::compiler {
namespace {

Verifier::Coverage coverage_of(const std::map<std::string, BoundedTensor>& expected) {
  Verifier::Coverage all;
  for (const auto& [name, tensor] : expected) {
    all.elements += tensor.value.element_count();
    all.bounded += std::ranges::count_if(tensor.bounds, [](double b) { return !std::isinf(b); });
  }
  return all;
}

std::string text_of(Kernel kernel, std::uint32_t variant) {
  kernel.variant = variant;
  kernel.rules.clear();
  return canonical_json(kernel_to_json(kernel));
}

// Other values of symbols than a program's: as many rows as blocks and panels are long, where that
// is cheap.
VerifyOptions options_for(const Kernel& kernel, const Graph& graph, VerifyOptions options) {
  auto many = options;
  many.most = options.most_in_kernels;
  many.most_work = options.cheap_work;
  options.most_work = options.most_kernel_work;
  if (affordable_symbols(graph, many).back() > affordable_symbols(graph, options).back()) {
    options = many;
  }
  // What is hidden need not be read (program.h), which bounds do not know.
  if (std::holds_alternative<Attention>(kernel.work)) {
    std::erase(options.styles, InputStyle::kAdversarial);
  }
  return options;
}

}  // namespace

// Inputs, and what the graph makes of them in f64.
struct ProgramVerifier::Trial {
  compiler::Trial given;
  std::map<std::string, BoundedTensor> expected;
  std::unique_ptr<ProgramMeaning> meaning;
};

struct ProgramVerifier::OwnKernel {
  OwnKernel(const Kernel& kernel, const Symbols& symbols, const VerifyOptions& options)
      : graph(definition_of(kernel, symbols).graph),
        verifier(graph, options_for(kernel, graph, options)) {}
  Graph graph;
  Verifier verifier;
};

ProgramVerifier::ProgramVerifier(const Graph& graph, VerifyOptions options)
    : graph_(graph), options_(options), runs_(graph, std::move(options)) {}
ProgramVerifier::~ProgramVerifier() = default;

std::vector<ProgramVerifier::Trial>& ProgramVerifier::trials() {
  if (!trials_.empty()) return trials_;
  const auto wide = widened(graph_);
  for (const auto& symbols : affordable_symbols(graph_, options_)) {
    for (const auto style : options_.styles) {
      Trial trial{make_trial(graph_, symbols, style, options_.seed), {}, {}};
      trial.expected = interpret_with_bounds(wide, trial.given.views(), symbols);
      trial.meaning = std::make_unique<ProgramMeaning>(trial.given.views(), symbols);
      trials_.push_back(std::move(trial));
    }
  }
  return trials_;
}

std::optional<std::string> ProgramVerifier::mistake_in_meaning(const Program& program) {
  for (auto& trial : trials()) {
    const auto got = trial.meaning->of(program);
    for (const auto& output : graph_.outputs()) {
      const auto& name = output.replaces.empty() ? output.name : output.replaces;
      const auto text = difference(trial.expected.at(output.name), got.at(name));
      if (text.empty()) continue;
      return fmt::format("its kernels mean something else: output '{}': {} ({}, in f64)",
                         output.name, text, trial.given.what);
    }
  }
  return std::nullopt;
}

std::optional<std::string> ProgramVerifier::mistake_in_kernels(const Program& program,
                                                               const Runtime& runtime) {
  for (std::size_t i = 0; i < program.kernels.size(); ++i) {
    const auto& kernel = program.kernels[i];
    const auto way =
        fmt::format("{} {} {}", runtime.name, runtime.threads, text_of(kernel, kernel.variant));
    if (right_.contains(way)) continue;
    auto& own = kernels_[text_of(kernel, 0)];
    if (!own) own = std::make_unique<OwnKernel>(kernel, program.symbols, options_);
    if (const auto mistake =
            own->verifier.mistake_of(program_of(kernel, program.symbols), runtime)) {
      return fmt::format("kernel {} ({}) by itself: {}", i, kind_of(kernel), *mistake);
    }
    right_.insert(way);
  }
  return std::nullopt;
}

std::optional<std::string> ProgramVerifier::mistake_of(const Program& program,
                                                       const Runtime& runtime) {
  if (auto mistake = mistake_in_meaning(program)) return mistake;
  if (auto mistake = mistake_in_kernels(program, runtime)) return mistake;
  return runs_.mistake_of(program, runtime);
}

ProgramVerifier::Coverage ProgramVerifier::coverage() {
  Coverage all;
  const auto add = [](Verifier::Coverage& to, const Verifier::Coverage& more) {
    to.elements += more.elements;
    to.bounded += more.bounded;
  };
  for (const auto& trial : trials()) add(all.meaning, coverage_of(trial.expected));
  for (const auto& [text, own] : kernels_) add(all.kernels, own->verifier.coverage());
  all.runs = runs_.coverage();
  return all;
}

}  // namespace assay::compiler
