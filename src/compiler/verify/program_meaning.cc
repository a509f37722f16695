// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/program_meaning.h"

#include "base/error.h"
#include "base/hash.h"
#include "compiler/program/kernel_graph.h"
#include "compiler/program/program_json.h"
#include "compiler/verify/widened.h"
#include "tensor/view.h"

namespace assay::compiler {
namespace {

// What is computed, not how.
std::string meaning_of(Kernel kernel) {
  kernel.variant = 0;
  kernel.rules.clear();
  return canonical_json(kernel_to_json(kernel));
}
// A state that stays what it was.
Tensor in_f64(const TensorView& given) {
  if (!is_floating(given.dtype())) return Tensor::copy(given);
  Tensor wide(DType::kF64, given.shape());
  const auto elements = wide.as<double>();
  for (std::int64_t i = 0; i < given.element_count(); ++i) {
    elements[static_cast<std::size_t>(i)] = value_as_double(given, i);
  }
  return wide;
}
std::string_view bytes_of(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

ProgramMeaning::ProgramMeaning(InputViews inputs, Bindings symbols,
                               std::optional<RoundedValues> rounded)
    : inputs_(std::move(inputs)), symbols_(std::move(symbols)), rounded_(std::move(rounded)) {}

ProgramMeaning::Known ProgramMeaning::computed(const Graph& definition,
                                               const std::set<std::string>& wide,
                                               const InputViews& views) const {
  Known known;
  const auto [graph, originals] = widened_with_originals(definition, wide);
  const auto look = [&, &originals = originals](NodeId wide_id,
                                                std::span<const TensorView> values) {
    for (const auto id : originals[wide_id]) {
      if (known.narrower) return;
      known.narrower = rounded_->mistake_in(definition, id, values[wide_id]);
    }
  };
  auto outputs = interpret(graph, views, symbols_, rounded_ ? NodeObserver(look) : NodeObserver());
  for (const auto& output : definition.outputs()) {
    const auto made = std::make_shared<const Tensor>(std::move(outputs.at(output.name)));
    known.outputs.push_back({made, short_hash(bytes_of(*made))});
  }
  return known;
}

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
  const auto [at, is_new] = known_.try_emplace(short_hash(key));
  auto& known = at->second;
  if (is_new) known = computed(graph, wide, views);
  if (known.narrower && !narrower_) {
    narrower_ = fmt::format("kernel {} ({}) {}", step.kernel, kind_of(kernel), *known.narrower);
  }
  for (std::size_t i = 0; i < writes.size(); ++i) {
    buffers_[step.buffers[writes[i]]] = known.outputs[i];
  }
}

std::map<std::string, TensorView> ProgramMeaning::of(const Program& program) {
  buffers_.assign(program.buffers.size(), {});
  narrower_.reset();
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
    auto& wide = buffers_[id].wide;
    if (!wide) wide = std::make_shared<const Tensor>(in_f64(inputs_.at(buffer.name)));
    all.emplace(buffer.name, wide->view());
  }
  return all;
}

}  // namespace assay::compiler
