// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/known_products.h"

#include <optional>

#include "base/json.h"
#include "compiler/graph/dtypes.h"
#include "compiler/graph/graph_json.h"

namespace assay::compiler {
namespace {

// Below that, finding out costs as much as computing.
constexpr double kManyTerms = 1e6;
// The name of sums where they are an input. Kernels' operands have other names.
constexpr const char* kSums = "sums";

// The largest floating-point sum of products, if it is large.
std::optional<NodeId> large_sums(const Graph& graph, const Bindings& symbols) {
  const auto readers = reader_counts(graph);
  std::optional<NodeId> found;
  double most = kManyTerms;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto& node = graph.node(id);
    if (!is_floating(node.dtype) || !sum_of_products(graph, id, readers)) continue;
    double terms = 1;
    for (const auto& dim : node.operands[0].view.shape) {
      terms *= static_cast<double>(dim.at(symbols));
    }
    if (terms < most) continue;
    most = terms;
    found = id;
  }
  return found;
}

// What `outputs` need of a graph, with one of its nodes as an input.
Graph part_of(const Graph& graph, const std::vector<Output>& outputs,
              std::optional<NodeId> given = {}) {
  std::vector<bool> is_needed(graph.size());
  for (const auto& output : outputs) is_needed[output.node] = true;
  for (NodeId id = static_cast<NodeId>(graph.size()); id-- > 0;) {
    if (!is_needed[id] || id == given) continue;
    for (const auto& operand : graph.node(id).operands) is_needed[operand.node] = true;
  }
  Graph part;
  for (const auto& [name, interval] : graph.symbols()) {
    part.symbol(name, interval.low, interval.high);
  }
  std::vector<NodeId> numbers(graph.size());
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!is_needed[id]) continue;
    auto node = graph.node(id);
    if (id == given) {
      node.op = Op::kInput;
      node.name = kSums;
      node.operands.clear();
    }
    for (auto& operand : node.operands) operand.node = numbers[operand.node];
    numbers[id] = part.add(std::move(node));
  }
  for (const auto& output : outputs) part.set_output(output.name, numbers[output.node]);
  return part;
}

InputViews views_of(const Graph& graph, const InputViews& all) {
  InputViews views;
  for (const auto id : graph.inputs()) {
    const auto& name = graph.node(id).name;
    if (const auto found = all.find(name); found != all.end()) views.insert(*found);
  }
  return views;
}

}  // namespace

KnownProducts::Sums KnownProducts::sums_of(
    const Graph& product, const InputViews& inputs, const Bindings& symbols,
    const std::map<std::string, std::uint64_t>& fingerprints) {
  auto key = canonical_json(graph_to_json(product));
  for (const auto& [name, value] : symbols) key += fmt::format("; {} = {}", name, value);
  const auto views = views_of(product, inputs);
  for (const auto& [name, view] : views) key += fmt::format("; {:x}", fingerprints.at(name));
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = known_.find(key); at != known_.end()) {
      ++found_;
      return at->second;
    }
  }
  auto made = std::make_shared<const TensorWithErrors>(
      std::move(interpret_with_errors(product, views, symbols).at(kSums)));
  const std::lock_guard lock(mutex_);
  return known_.try_emplace(std::move(key), std::move(made)).first->second;
}

std::map<std::string, BoundedTensor> KnownProducts::interpret(
    const Graph& graph, const InputViews& inputs, const Bindings& symbols,
    const std::map<std::string, std::uint64_t>& fingerprints) {
  const auto sums = inputs.contains(kSums) ? std::nullopt : large_sums(graph, symbols);
  if (!sums) return interpret_with_bounds(graph, inputs, symbols);
  const auto known = sums_of(part_of(graph, {{kSums, *sums, {}}}), inputs, symbols, fingerprints);
  const auto rest = part_of(graph, graph.outputs(), sums);
  auto views = views_of(rest, inputs);
  views.emplace(kSums, known->value.view());
  return bounded(interpret_with_errors(rest, views, symbols, {{kSums, &known->errors}}));
}

}  // namespace assay::compiler
