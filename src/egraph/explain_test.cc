// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/explain.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/philox.h"
#include "egraph/mathematics.h"

namespace assay::egraph {
namespace {

TEST(Explain, EveryEqualityOfMathematicsHasAProofThatHolds) {
  auto m = mathematics();
  EGraph g(nullptr, true);
  std::vector<ClassId> roots;
  for (const auto& term : m.expressions) roots.push_back(add_term(g, *term));
  saturate(g, m.rules, {.nodes = 3000, .iterations = 5});
  const Philox random(5);
  int proved = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const auto a = static_cast<ClassId>(random[2 * i] % g.id_count());
    const auto of = g.find(a);
    auto b = static_cast<ClassId>(random[2 * i + 1] % g.id_count());
    for (ClassId k = 0; k < g.id_count() && g.find(b) != of; ++k) b = (b + 1) % g.id_count();
    if (a == b) continue;
    const auto steps = explain(g, a, b);
    ASSERT_FALSE(steps.empty());
    ASSERT_EQ(check_proof(steps, m.rules, m.vocabulary), "")
        << to_text(steps, m.rules, m.vocabulary);
    ++proved;
  }
  EXPECT_GT(proved, 1000);
}

TEST(Explain, NamesTheRulesAndTheirDirection) {
  auto m = mathematics();
  EGraph g(nullptr, true);
  const auto add = [&](const char* text) { return add_term(g, *parse_term(text, m.vocabulary)); };
  const ClassId from = add("(f (+ (* x 1) 0))"), to = add("(f x)");
  saturate(g, m.rules, {.iterations = 3, .seconds = 10});
  ASSERT_TRUE(g.same(from, to));
  const auto steps = explain(g, from, to);
  EXPECT_EQ(check_proof(steps, m.rules, m.vocabulary), "");
  const auto text = to_text(steps, m.rules, m.vocabulary);
  EXPECT_NE(text.find("add-zero"), std::string::npos) << text;
  EXPECT_NE(text.find("mul-one"), std::string::npos) << text;
  EXPECT_EQ(to_text(*steps.front().before, m.vocabulary), "(f (+ (* x 1) 0))");
  EXPECT_EQ(to_text(*steps.back().after, m.vocabulary), "(f x)");
  const auto back = explain(g, to, from);
  EXPECT_EQ(back.size(), steps.size());
  EXPECT_EQ(check_proof(back, m.rules, m.vocabulary), "");
  EXPECT_THROW(explain(g, from, add("y")), UserError);
  EXPECT_THROW(explain(g, from, to, 1), UserError);
  EXPECT_TRUE(explain(g, from, from).empty());
}

TEST(Explain, TheCheckerFindsAWrongStep) {
  auto m = mathematics();
  EGraph g(nullptr, true);
  const auto add = [&](const char* text) { return add_term(g, *parse_term(text, m.vocabulary)); };
  const ClassId from = add("(+ x (+ y z))"), to = add("(+ (+ x y) z)");
  saturate(g, m.rules, {.iterations = 2});
  auto steps = explain(g, from, to);
  ASSERT_EQ(check_proof(steps, m.rules, m.vocabulary), "");
  auto wrong = steps;
  wrong[0].why = Reason::by_rule(1);
  EXPECT_NE(check_proof(wrong, m.rules, m.vocabulary), "");
  wrong = steps;
  wrong[0].forward = !wrong[0].forward;
  EXPECT_NE(check_proof(wrong, m.rules, m.vocabulary), "");
  wrong = steps;
  wrong[0].after = parse_term("(+ x z)", m.vocabulary);
  EXPECT_NE(check_proof(wrong, m.rules, m.vocabulary), "");
}

}  // namespace
}  // namespace assay::egraph
