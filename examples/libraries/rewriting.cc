// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// assay::egraph: rules of a small language, applied until nothing new follows; the smallest term
// that is equal to the one given; and the proof, replayed by a checker that needs the rules alone.
#include <cstdio>
#include <vector>

#include "egraph/egraph.h"
#include "egraph/explain.h"
#include "egraph/extract.h"
#include "egraph/mathematics.h"

using namespace assay::egraph;

int main() {
  Vocabulary words;
  const std::vector<Rule> rules = {
      rewrite("mul-div", "(/ (* ?a ?b) ?c)", "(* ?a (/ ?b ?c))", words),
      rewrite("div-self", "(/ ?a ?a)", "1", words), rewrite("mul-one", "(* ?a 1)", "?a", words)};
  EGraph graph(nullptr, /*explains=*/true);
  const auto given = add_term(graph, *parse_term("(/ (* x 2) 2)", words));
  const auto report = saturate(graph, rules, {});
  std::printf("%s after %d iterations, %zu nodes\n", name_of(report.stop), report.iterations,
              report.nodes);

  // A term costs as much as it has nodes.
  const Extractor smallest(graph, [](const NodeView&, std::span<const double> children) {
    double cost = 1;
    for (const double child : children) cost += child;
    return cost;
  });
  const auto best = smallest.term(given);
  std::printf("(/ (* x 2) 2) = %s\n", to_text(*best, words).c_str());
  const auto steps = explain(graph, given, add_term(graph, *best));
  std::printf("%s", to_text(steps, rules, words).c_str());
  const auto wrong = check_proof(steps, rules, words);
  std::printf("%zu steps, %s\n", steps.size(), wrong.empty() ? "each by its rule" : wrong.c_str());
}
