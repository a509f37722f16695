// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/compile.h"

#include <cstdlib>

namespace assay::compiler {

CompileOptions options_from_environment() {
  const char* list = std::getenv("ASSAY_COMPILER_DISABLE");  // NOLINT(concurrency-mt-unsafe)
  CompileOptions options;
  if (list != nullptr) options.disabled = disabled_families(list);
  return options;
}

FuseChoices fuse_choices(const CompileOptions& options) {
  FuseChoices choices;
  choices.regions = !options.disabled.contains("fusion");
  choices.epilogues = !options.disabled.contains("epilogue");
  choices.shares = !options.disabled.contains("share");
  choices.in_place = !options.disabled.contains("inplace");
  return choices;
}

egraph::SaturationReport recognise(TensorEGraph& terms, const std::vector<egraph::Rule>& rules) {
  egraph::Budget budget;
  budget.nodes = 20 * terms.terms().node_count() + 10'000;
  budget.iterations = 12;
  return egraph::saturate(terms.terms(), rules, budget);
}

Program compile_default(const Graph& graph, const CompileOptions& options) {
  TensorEGraph terms(graph);
  recognise(terms, tensor_rules(terms, options.disabled));
  return lower(chosen_graph(terms).work, fuse_choices(options));
}

}  // namespace assay::compiler
