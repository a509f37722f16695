// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/mathematics.h"

#include <array>

#include "base/error.h"

namespace assay::egraph {
namespace {

constexpr std::array<std::array<const char*, 3>, 24> kRules = {{
    {"add-swap", "(+ ?a ?b)", "(+ ?b ?a)"},
    {"mul-swap", "(* ?a ?b)", "(* ?b ?a)"},
    {"add-regroup", "(+ ?a (+ ?b ?c))", "(+ (+ ?a ?b) ?c)"},
    {"mul-regroup", "(* ?a (* ?b ?c))", "(* (* ?a ?b) ?c)"},
    {"sub-as-add", "(- ?a ?b)", "(+ ?a (* -1 ?b))"},
    {"add-zero", "(+ ?a 0)", "?a"},
    {"mul-zero", "(* ?a 0)", "0"},
    {"mul-one", "(* ?a 1)", "?a"},
    {"sub-itself", "(- ?a ?a)", "0"},
    {"distribute", "(* ?a (+ ?b ?c))", "(+ (* ?a ?b) (* ?a ?c))"},
    {"factor", "(+ (* ?a ?b) (* ?a ?c))", "(* ?a (+ ?b ?c))"},
    {"pow-add", "(* (pow ?a ?b) (pow ?a ?c))", "(pow ?a (+ ?b ?c))"},
    {"pow-one", "(pow ?x 1)", "?x"},
    {"pow-two", "(pow ?x 2)", "(* ?x ?x)"},
    {"d-add", "(d ?x (+ ?a ?b))", "(+ (d ?x ?a) (d ?x ?b))"},
    {"d-mul", "(d ?x (* ?a ?b))", "(+ (* ?a (d ?x ?b)) (* ?b (d ?x ?a)))"},
    {"d-sin", "(d ?x (sin ?x))", "(cos ?x)"},
    {"d-cos", "(d ?x (cos ?x))", "(* -1 (sin ?x))"},
    {"i-one", "(i 1 ?x)", "?x"},
    {"i-cos", "(i (cos ?x) ?x)", "(sin ?x)"},
    {"i-sin", "(i (sin ?x) ?x)", "(* -1 (cos ?x))"},
    {"i-add", "(i (+ ?f ?g) ?x)", "(+ (i ?f ?x) (i ?g ?x))"},
    {"i-sub", "(i (- ?f ?g) ?x)", "(- (i ?f ?x) (i ?g ?x))"},
    {"i-parts", "(i (* ?a ?b) ?x)", "(- (* ?a (i ?b ?x)) (i (* (d ?x ?a) (i ?b ?x)) ?x))"},
}};

constexpr std::array<const char*, 7> kExpressions = {
    "(i (ln x) x)",
    "(i (+ x (cos x)) x)",
    "(i (* (cos x) x) x)",
    "(d x (+ 1 (* 2 x)))",
    "(d x (- (pow x 3) (* 7 (pow x 2))))",
    "(+ (* y (+ x y)) (- (+ x 2) (+ x x)))",
    "(/ 1 (- (/ (+ 1 (sqrt five)) 2) (/ (- 1 (sqrt five)) 2)))",
};

}  // namespace

Mathematics mathematics() {
  Mathematics m;
  for (const auto& [name, left, right] : kRules) {
    m.rules.push_back(rewrite(name, left, right, m.vocabulary));
  }
  for (const auto* text : kExpressions) m.expressions.push_back(parse_term(text, m.vocabulary));
  return m;
}

ClassId add_term(EGraph& graph, const Term& term) {
  if (term.is_variable()) fail("a term with a variable: '{}'", term.variable);
  std::vector<ClassId> children;
  for (const auto& child : term.children) children.push_back(add_term(graph, *child));
  return graph.add_exact(term.op, children, term.payload);
}

}  // namespace assay::egraph
