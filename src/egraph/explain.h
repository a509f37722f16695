// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A proof that two terms are equal, as a list of terms in which each follows from the one before by
// one rule at one place; and a checker that needs the rules only, no e-graph.

#include <span>
#include <string>
#include <vector>

#include "egraph/egraph.h"
#include "egraph/rules.h"
#include "egraph/term.h"

namespace assay::egraph {

struct ProofStep {
  Reason why;           // a rule, or given
  bool forward = true;  // false: the rule leads from `after` to `before`
  TermPtr before, after;
};

// From term a to term b, which are equal; the graph explains. Throws UserError where the list would
// be longer than `limit`, or goes on inside more than 1000 operators.
std::vector<ProofStep> explain(const EGraph& graph, ClassId a, ClassId b,
                               std::size_t limit = 100'000);

// Looks whether every step changes one place as its rule says, by matching trees. Empty: it does;
// else what is wrong with which step. On trust are taken: given equalities, rules that are made by
// a function, that a guard held, and of a rule with several anchors all but the first.
std::string check_proof(std::span<const ProofStep> steps, std::span<const Rule> rules,
                        const Vocabulary& vocabulary);

std::string to_text(std::span<const ProofStep> steps, std::span<const Rule> rules,
                    const Vocabulary& vocabulary);

}  // namespace assay::egraph
