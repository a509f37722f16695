// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/program_meaning.h"

#include "base/error.h"
#include "base/hash.h"
#include "compiler/program/kernel_graph.h"
#include "compiler/program/program_json.h"
#include "compiler/verify/widened.h"

namespace assay::compiler {
namespace {

// What is computed, not how.
std::string meaning_of(Kernel kernel) {
  kernel.variant = 0;
  kernel.rules.clear();
  return canonical_json(kernel_to_json(kernel));
}
std::string_view bytes_of(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

ProgramMeaning::ProgramMeaning(InputViews inputs, Bindings symbols)
    : inputs_(std::move(inputs)), symbols_(std::move(symbols)) {}

void ProgramMeaning::take(const Program& program, const Step& step) {
  const auto& kernel = program.kernels[step.kernel];
  const auto& [graph, reads, writes] = definition_of(kernel, program.symbols);
  auto key = meaning_of(kernel);
  std::set<std::string> wide;
  InputViews views;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const auto& name = graph.node(graph.inputs()[i]).name;
    const auto buffer = step.buffers[reads[i]];
    const auto& value = buffers_[buffer];
    key += fmt::format("; {} {}", reads[i], value.identity);
    if (value.wide) wide.insert(name);
    views.emplace(name, value.wide ? value.wide->view() : inputs_.at(program.buffers[buffer].name));
  }
  auto& known = known_[short_hash(key)];
  if (known.empty()) {
    auto outputs = interpret(widened(graph, wide), views, symbols_);
    for (const auto& output : graph.outputs()) {
      const auto made = std::make_shared<const Tensor>(std::move(outputs.at(output.name)));
      known.push_back({made, short_hash(bytes_of(*made))});
    }
  }
  for (std::size_t i = 0; i < writes.size(); ++i) buffers_[step.buffers[writes[i]]] = known[i];
}

std::map<std::string, TensorView> ProgramMeaning::of(const Program& program) {
  buffers_.assign(program.buffers.size(), {});
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    buffers_[id].identity = "input " + program.buffers[id].name;
  }
  for (const auto& step : program.steps) take(program, step);
  std::map<std::string, TensorView> all;
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    const auto& buffer = program.buffers[id];
    const bool is_result =
        buffer.kind == Buffer::Kind::kOutput || buffer.kind == Buffer::Kind::kState;
    if (!is_result) continue;
    const auto& wide = buffers_[id].wide;
    all.emplace(buffer.name, wide ? wide->view() : inputs_.at(buffer.name));
  }
  return all;
}

}  // namespace assay::compiler
