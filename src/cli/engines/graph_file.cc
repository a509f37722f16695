// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/graph_file.h"

#include <fmt/ranges.h>

#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/machine.h"
#include "base/text.h"
#include "compiler/graph/given_sizes.h"
#include "compiler/graph/graph_json.h"
#include "compiler/graph/graph_sizes.h"
#include "compiler/verify/test_inputs.h"

namespace assay::cli {
namespace {

using Kind = models::pt2::TakenLeaf::Kind;

}  // namespace

GraphFile read_graph_file(const std::string& path) {
  if (!models::pt2::Archive::is_one(path)) {
    return {compiler::graph_from_json(read_json_file(path), path), {}, {}, {}, nullptr};
  }
  auto archive = std::make_unique<models::pt2::Archive>(path);
  auto imported = models::pt2::import_archive(*archive);
  return {std::move(imported.graph), std::move(imported.stored), std::move(imported.arguments),
          std::move(imported.checks), std::move(archive)};
}

std::string sizes_told(const compiler::Graph& graph, const compiler::Bindings& symbols) {
  const auto bytes = [&](compiler::NodeId id) {
    return compiler::bytes_of(graph.node(id), symbols);
  };
  compiler::NodeId largest = 0;
  for (compiler::NodeId id = 0; id < graph.size(); ++id) {
    if (bytes(id) > bytes(largest)) largest = id;
  }
  return fmt::format("inputs and outputs take {:.3g} GB; the largest is {}, {:.3g} GB",
                     compiler::bytes_of_operands(graph, symbols) * 1e-9,
                     compiler::described(graph, largest), bytes(largest) * 1e-9);
}

void refuse_impossible_sizes(const std::string& path, const compiler::Graph& graph,
                             const compiler::Bindings& symbols) {
  const auto has = static_cast<double>(read_machine().memory_bytes);
  auto all = compiler::symbol_values(graph);
  all.push_back(symbols);
  for (const auto& values : all) {
    try {
      compiler::check_sizes(graph, values);
    } catch (const UserError& e) {
      fail("{}: {}", path, e.what());
    }
    const double bytes = compiler::bytes_of_operands(graph, values);
    if (bytes <= has) continue;
    std::string at;
    for (const auto& [name, value] : values) {
      const bool is_least = value == graph.symbols().at(name).low;
      at += fmt::format(" with {} = {}{}", name, value, is_least ? " (its least)" : "");
    }
    throw EnvironmentError(fmt::format("{}:{} {:.0f} bytes are needed, this machine has {:.0f}: {}",
                                       path, at, bytes, has, sizes_told(graph, values)));
  }
}

void refuse_unknown_inputs(const GraphFile& file, const SafetensorsFile& inputs,
                           const std::string& path) {
  std::set<std::string> known;
  for (const auto id : file.graph.inputs()) known.insert(file.graph.node(id).name);
  for (const auto& leaf : file.arguments) {
    if (leaf.kind == Kind::kSize) known.insert(leaf.name);
  }
  std::vector<std::string> unknown;
  for (const auto& name : inputs.names()) {
    if (!known.contains(name)) unknown.push_back(printable(name));
  }
  if (unknown.empty()) return;
  fail("{}: the graph has no input '{}'; its inputs are {}", path, fmt::join(unknown, "', '"),
       fmt::join(known, ", "));
}

compiler::Bindings symbols_of_inputs(const GraphFile& file, const SafetensorsFile& inputs,
                                     const std::string& path) {
  compiler::Bindings found;
  try {
    const compiler::GivenSizes sizes(file.graph);
    for (const auto id : file.graph.inputs()) {
      const auto& name = file.graph.node(id).name;
      if (inputs.contains(name)) sizes.add_shape(name, inputs.view(name).shape(), found);
    }
    for (const auto& leaf : file.arguments) {
      if (leaf.kind != Kind::kSize || !inputs.contains(leaf.name)) continue;
      const auto& view = inputs.view(leaf.name);
      if (view.element_count() != 1 || !is_integer(view.dtype())) {
        fail("'{}' is one whole number, got {} {}", leaf.name, name_of(view.dtype()),
             view.shape().to_string());
      }
      const auto value = static_cast<std::int64_t>(value_as_double(view, 0));
      models::pt2::bind_size(leaf, value, sizes, found);
    }
  } catch (const UserError& e) {
    fail("{}: {}", path, e.what());
  }
  return found;
}

void refuse_violations(const std::string& path, const std::vector<models::pt2::Check>& checks,
                       const compiler::OutputTensors& outputs, const compiler::Bindings& symbols) {
  const auto value = [&](const std::string& output) {
    return output.empty() ? 0 : outputs.at(output).as<std::int64_t>()[0];
  };
  for (const auto& check : checks) {
    const auto wrong =
        models::pt2::violation(check, value(check.least), value(check.greatest), symbols);
    if (!wrong.empty()) fail("{}: {}", path, wrong);
  }
}

std::map<std::string, TensorView> input_views(const GraphFile& file,
                                              const SafetensorsFile& inputs) {
  std::map<std::string, TensorView> views;
  for (const auto id : file.graph.inputs()) {
    const auto& name = file.graph.node(id).name;
    const auto stored = file.stored.find(name);
    const bool is_stored = stored != file.stored.end() && !inputs.contains(name);
    views.emplace(name, is_stored ? stored->second : inputs.view(name));
  }
  return views;
}

}  // namespace assay::cli
