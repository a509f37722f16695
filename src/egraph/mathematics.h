// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The benchmark that e-graph libraries share: differentiation, integration and the algebra between,
// over seven small expressions. It is a text (python/assay_worker/mathematics.txt), so that every
// library reads the same.

#include <string>
#include <string_view>
#include <vector>

#include "egraph/rules.h"

namespace assay::egraph {

struct RuleText {
  std::string name, left, right;
};
struct MathematicsText {
  std::vector<RuleText> rules;
  std::vector<std::string> expressions;
};
MathematicsText mathematics_text();

struct Mathematics {
  Vocabulary vocabulary;
  std::vector<Rule> rules;
  std::vector<TermPtr> expressions;
};
Mathematics mathematics();

// The class of a term without variables.
ClassId add_term(EGraph& graph, const Term& term);

}  // namespace assay::egraph
