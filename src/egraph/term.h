// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Terms and patterns as trees, and as text: (op child …), name for an operator without children,
// name[7] with a payload, ?x for a variable, name[?p] for a payload that is one.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "egraph/node.h"

namespace assay::egraph {

// Names of operators, numbered as they are first used.
class Vocabulary {
 public:
  Operator op(std::string_view name);
  const std::string& name(Operator op) const { return names_.at(op); }

 private:
  std::map<std::string, Operator, std::less<>> numbers_;
  std::vector<std::string> names_;
};

struct Term;
using TermPtr = std::shared_ptr<const Term>;  // subterms are shared

// As deep as memory allows: nothing that walks, compares, writes or frees a term uses the stack for
// its depth (text is read to a depth of 1000).
struct Term {
  ~Term();

  std::string variable;  // not empty: a variable, and nothing else counts
  Operator op = 0;
  std::uint64_t payload = 0;
  std::string payload_variable;  // not empty: any payload, called so
  std::vector<TermPtr> children;

  bool is_variable() const { return !variable.empty(); }
};

TermPtr make_term(Operator op, std::vector<TermPtr> children = {}, std::uint64_t payload = 0);
bool equal(const Term& a, const Term& b);

// The term at `root`, where node(id) is the NodeView that stands at a number; `made` keeps what was
// built, so that subterms are shared, between calls too.
template <typename NodeAt>
TermPtr term_at(ClassId root, const NodeAt& node, std::unordered_map<ClassId, TermPtr>& made) {
  for (std::vector<ClassId> todo{root}; !todo.empty();) {
    const ClassId id = todo.back();
    const NodeView view = node(id);
    const auto waiting = todo.size();
    for (const ClassId child : view.children) {
      if (!made.contains(child)) todo.push_back(child);
    }
    if (todo.size() > waiting) continue;
    todo.pop_back();
    if (made.contains(id)) continue;
    std::vector<TermPtr> children;
    for (const ClassId child : view.children) children.push_back(made.at(child));
    made.emplace(id, make_term(view.op, std::move(children), view.payload));
  }
  return made.at(root);
}

// Throws UserError that names what is wrong and where.
TermPtr parse_term(std::string_view text, Vocabulary& vocabulary);
std::string to_text(const Term& term, const Vocabulary& vocabulary);

}  // namespace assay::egraph
