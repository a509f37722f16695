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

struct Term {
  std::string variable;  // not empty: a variable, and nothing else counts
  Operator op = 0;
  std::uint64_t payload = 0;
  std::string payload_variable;  // not empty: any payload, called so
  std::vector<TermPtr> children;

  bool is_variable() const { return !variable.empty(); }
};

TermPtr make_term(Operator op, std::vector<TermPtr> children = {}, std::uint64_t payload = 0);
bool equal(const Term& a, const Term& b);

// Throws UserError that names what is wrong and where.
TermPtr parse_term(std::string_view text, Vocabulary& vocabulary);
std::string to_text(const Term& term, const Vocabulary& vocabulary);

}  // namespace assay::egraph
