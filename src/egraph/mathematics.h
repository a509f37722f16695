// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The benchmark that e-graph libraries share: differentiation, integration and the algebra between,
// over seven small expressions.

#include <vector>

#include "egraph/rules.h"

namespace assay::egraph {

struct Mathematics {
  Vocabulary vocabulary;
  std::vector<Rule> rules;
  std::vector<TermPtr> expressions;
};
Mathematics mathematics();

// The class of a term without variables.
ClassId add_term(EGraph& graph, const Term& term);

}  // namespace assay::egraph
