// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules by which programs get kernels. Each has a name, a family that can be switched off, and
// a note on why it is legal. Every one of them is tested on instances of what it matches
// (tensor_rules_test.cc).

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "compiler/rules/tensor_egraph.h"
#include "egraph/rules.h"

namespace assay::compiler {

struct TensorRule {
  std::string family;
  egraph::Rule rule;
};

// What a body rule finds: what `match` builds; and what it puts there, which is the same unless a
// test wants a wrong rule.
struct BodyRule {
  std::string name, family, note;
  std::size_t leaves = 1;
  bool any_axis = false;    // else along the last one
  std::size_t numbers = 0;  // constants that may be anything
  BodyMaker match, result;
};
std::vector<BodyRule> body_rules();
TensorRule tensor_rule(TensorEGraph& terms, const BodyRule& rule);

// How right rules are made wrong, for tests: each field is what somebody could get wrong.
struct Mistakes {
  double scale = 1;                // attention: times this
  std::int64_t offset = 0;         // attention: causal offset plus this
  std::int64_t window = 0;         // attention: window plus this
  bool drops_mask = false;         // attention: an additive or bool mask is forgotten
  bool drops_causal = false;       // attention
  std::int64_t expert_stride = 0;  // grouped: matrices begin that many elements later
  bool swaps_product = false;      // product: the batch of b is reversed
};
TensorRule product_rule(TensorEGraph& terms, const Mistakes& mistakes = {});
std::vector<TensorRule> attention_rules(TensorEGraph& terms, const Mistakes& mistakes = {});
TensorRule grouped_rule(TensorEGraph& terms, const Mistakes& mistakes = {});
std::vector<TensorRule> algebra_rules(TensorEGraph& terms);

// Families: algebra, matmul, softmax, norm, rotary, gate, attention, experts; beside them, not in
// the e-graph: fusion, epilogue, share, inplace.
const std::vector<std::string>& rule_families();
// Of ASSAY_COMPILER_DISABLE, a list with commas. Throws UserError that lists the families.
std::set<std::string> disabled_families(std::string_view list);
// All rules but those of disabled families.
std::vector<egraph::Rule> tensor_rules(TensorEGraph& terms, const std::set<std::string>& disabled);

}  // namespace assay::compiler
