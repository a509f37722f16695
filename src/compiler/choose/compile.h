// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The door: a graph in, a program out.

#include <set>
#include <string>

#include "compiler/lower/lower.h"
#include "compiler/rules/chosen.h"
#include "compiler/rules/tensor_rules.h"

namespace assay::compiler {

struct CompileOptions {
  std::set<std::string> disabled;  // families of rules (tensor_rules.h)
};

// Of the environment: ASSAY_COMPILER_DISABLE.
CompileOptions options_from_environment();
FuseChoices fuse_choices(const CompileOptions& options);

// Applies rules until nothing new follows.
egraph::SaturationReport recognise(TensorEGraph& terms, const std::vector<egraph::Rule>& rules);

// The default program: good without a search.
Program compile_default(const Graph& graph, const CompileOptions& options = {});

}  // namespace assay::compiler
