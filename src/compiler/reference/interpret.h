// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a graph means: node after node by plain loops, floating point in f64 and rounded once to the
// node's dtype. Everything else that runs graphs is held to this.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/reference/sum_of_products.h"
#include "tensor/tensor.h"

namespace assay::compiler {

// By name. Inputs are row-major without gaps.
using InputViews = std::map<std::string, TensorView>;
using OutputTensors = std::map<std::string, Tensor>;

// Throws UserError that names input, symbol, dtype or shape where what is given does not fit the
// graph: an input that is missing or not one of it, a symbol outside of its interval, a view that
// would read outside of what it reads.
OutputTensors interpret(const Graph& graph, const InputViews& inputs, const Bindings& symbols);

// Called after each node, in order, with the values of all nodes so far. Those of nodes that nobody
// reads any more are gone (of shape [0]). All lie without gaps.
// An input that is widened for products and gathers alone stays what it was: the values of such a
// node have the input's dtype.
using NodeObserver = std::function<void(NodeId, std::span<const TensorView> values)>;
OutputTensors interpret(const Graph& graph, const InputViews& inputs, const Bindings& symbols,
                        const NodeObserver& observer);

}  // namespace assay::compiler
