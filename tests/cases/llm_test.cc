// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The e-graph against the plain one that judges it, on expressions that nobody chose.
#include <gtest/gtest.h>

#include "cases/llm/oracle/plain_saturation.h"
#include "cases/llm/saturation_inputs.h"
#include "egraph/mathematics.h"

namespace assay::cases::llm {
namespace {

TEST(Saturation, EveryCountAgreesWithThePlainGraph) {
  const auto text = egraph::mathematics_text();
  std::vector<PlainRule> rules;
  for (const auto& rule : text.rules) rules.push_back({rule.left, rule.right});
  for (int set = 0; set < 12; ++set) {
    const auto terms = saturation_terms({{"seed", 7}}, set);
    auto m = egraph::mathematics();
    egraph::EGraph graph(nullptr, set % 2 == 1);
    for (const auto& term : terms) egraph::add_term(graph, *egraph::parse_term(term, m.vocabulary));
    const auto report = egraph::saturate(graph, m.rules, {.nodes = 1'000'000, .iterations = 7});
    const std::vector<std::int64_t> got(report.nodes_after.begin(), report.nodes_after.end());
    EXPECT_EQ(got, plain_saturation(rules, terms, 7)) << terms.back();
  }
}

}  // namespace
}  // namespace assay::cases::llm
