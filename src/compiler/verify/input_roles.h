// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What inputs are there for, as far as it decides which numbers say anything when they are tried.
// Lists have an entry for each node.

#include <vector>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// Only ever added to something, as masks are.
std::vector<bool> only_added(const Graph& graph);
// Only ever a factor of sums of products.
std::vector<bool> only_factors(const Graph& graph);
// Something that a root or a logarithm is taken of, maybe with a number added, as variances and
// probabilities are: below 0 nothing but NaN may come of it.
std::vector<bool> under_roots(const Graph& graph);
// By which an input is made smaller where it is a factor of sums of many products, as a model's
// weights are: what comes out is of the size of what goes in, and a softmax further on is not all
// on one element.
std::vector<double> scales_of(const Graph& graph, const Bindings& symbols);

// Whether some root or logarithm may be taken of what is below 0, though nothing under_roots() is.
bool may_leave_roots(const Graph& graph);

}  // namespace assay::compiler
