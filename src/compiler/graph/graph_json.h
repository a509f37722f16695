// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A graph as text: {"symbols": {"s": [1, 64]}, "nodes": [{"op": "add", "dtype": "f32", "shape":
// ["s", 128], "operands": [{"node": 0, "shape": […], "strides": […], "offset": 0}]}, …], "outputs":
// [{"name": "y", "node": 5}]}. Dimensions are numbers or expressions (dimension.h). A view that
// reads everything in order is left out. Constants are written with their exact bits: "0x3f800000".
// An output that is the next value of an input says so: "replaces": "cache".

#include <string_view>

#include "base/json.h"
#include "compiler/graph/graph.h"

namespace assay::compiler {

Json graph_to_json(const Graph& graph);
// Throws UserError that names `what`, the node's number and the key. Reading back gives equal nodes
// under equal numbers, unless two were the same.
Graph graph_from_json(const Json& json, std::string_view what);

}  // namespace assay::compiler
