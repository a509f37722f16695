// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/mathematics.h"

#include "base/error.h"

namespace assay::egraph {

extern const char* const kMathematicsText;  // mathematics_text.cc, made of the file

MathematicsText mathematics_text() {
  MathematicsText text;
  for (std::string_view rest = kMathematicsText; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const auto colon = line.find(": "), arrow = line.find(" -> ");
    if (line.starts_with("rule ") && colon != line.npos && arrow != line.npos) {
      text.rules.push_back({std::string(line.substr(5, colon - 5)),
                            std::string(line.substr(colon + 2, arrow - colon - 2)),
                            std::string(line.substr(arrow + 4))});
    } else if (line.starts_with("term ")) {
      text.expressions.emplace_back(line.substr(5));
    } else {
      check(line.empty() || line[0] == '#', "a line is a rule, a term or a comment");
    }
  }
  return text;
}

Mathematics mathematics() {
  Mathematics m;
  const auto text = mathematics_text();
  for (const auto& [name, left, right] : text.rules) {
    m.rules.push_back(rewrite(name, left, right, m.vocabulary));
  }
  for (const auto& term : text.expressions) m.expressions.push_back(parse_term(term, m.vocabulary));
  return m;
}

ClassId add_term(EGraph& graph, const Term& term) {
  struct Open {
    const Term* of;
    std::vector<ClassId> children;
  };
  for (std::vector<Open> open{{&term, {}}};;) {
    const Term& now = *open.back().of;
    if (now.is_variable()) fail("a term with a variable: '{}'", now.variable);
    if (const auto built = open.back().children.size(); built < now.children.size()) {
      open.push_back({now.children[built].get(), {}});
      continue;
    }
    const ClassId id = graph.add_exact(now.op, open.back().children, now.payload);
    open.pop_back();
    if (open.empty()) return id;
    open.back().children.push_back(id);
  }
}

}  // namespace assay::egraph
