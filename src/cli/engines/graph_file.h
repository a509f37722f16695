// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A graph in a file: as JSON, or an archive of torch.export, told apart by content.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/reference/interpret.h"
#include "models/pt2/import.h"
#include "tensor/safetensors.h"

namespace assay::cli {

struct GraphFile {
  compiler::Graph graph;
  // Of an archive: inputs that it has values for. Valid while this object lives.
  std::map<std::string, TensorView> stored;
  std::vector<models::pt2::TakenLeaf> arguments;  // of its forward()
  std::vector<models::pt2::Check> checks;
  std::unique_ptr<models::pt2::Archive> archive;
};

// Throws UserError, one line that names the file and what is wrong with it.
GraphFile read_graph_file(const std::string& path);

// Before anything is computed at these values of the symbols, or at those of verification: what is
// too large would take hours until it ends, if it does. Throws UserError that names file and node;
// EnvironmentError that names symbols and bytes where they are more than this machine has.
void refuse_impossible_sizes(const std::string& path, const compiler::Graph& graph,
                             const compiler::Bindings& symbols);
// "inputs and outputs take 3 GB; the largest is node 0 (input x f32 [s]), 2 GB".
std::string sizes_told(const compiler::Graph& graph, const compiler::Bindings& symbols);

// Throws UserError that names tensors that are no inputs of the graph.
void refuse_unknown_inputs(const GraphFile& graph, const SafetensorsFile& inputs,
                           const std::string& path);

// What inputs say of the symbols, by their shapes, and by numbers for those that forward() takes.
// Throws UserError where two inputs say different things, or a value is outside of its interval.
compiler::Bindings symbols_of_inputs(const GraphFile& graph, const SafetensorsFile& inputs,
                                     const std::string& path);

// Throws UserError where a run with these inputs met what torch refuses.
void refuse_violations(const std::string& path, const std::vector<models::pt2::Check>& checks,
                       const compiler::OutputTensors& outputs, const compiler::Bindings& symbols);

// A value for every input: of the file, else of the archive. Throws UserError that names what is
// missing.
std::map<std::string, TensorView> input_views(const GraphFile& graph,
                                              const SafetensorsFile& inputs);

}  // namespace assay::cli
