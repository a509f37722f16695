// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "base/error.h"
#include "egraph/extract.h"
#include "egraph/mathematics.h"
#include "egraph/rules.h"

namespace assay::egraph {
namespace {

double size_of(const NodeView&, std::span<const double> children) {
  double sum = 1;
  for (const double child : children) sum += child;
  return sum;
}

struct Problem {
  Mathematics m = mathematics();
  EGraph graph;
  explicit Problem(bool explains = false) : graph(nullptr, explains) {}
  ClassId add(const char* text) { return add_term(graph, *parse_term(text, m.vocabulary)); }
  std::string smallest(ClassId id) {
    return to_text(*Extractor(graph, size_of).term(id), m.vocabulary);
  }
};

TEST(Saturate, FindsWhatRulesSay) {
  Problem p;
  const ClassId zero = p.add("(- (+ x y) (+ x y))");
  const ClassId product = p.add("(* (pow x y) (pow x z))");
  const ClassId derivative = p.add("(d x (+ (sin x) (cos x)))");
  saturate(p.graph, p.m.rules, {.nodes = 5000, .iterations = 4});
  EXPECT_EQ(p.smallest(zero), "0");
  EXPECT_EQ(p.smallest(product), "(pow x (+ y z))");
  EXPECT_TRUE(p.graph.same(derivative, p.add("(+ (cos x) (* -1 (sin x)))")));
  EXPECT_FALSE(p.graph.same(zero, p.add("1")));
}

TEST(Saturate, EndsWhereNothingFollows) {
  Problem p;
  p.add("(+ x (+ y z))");
  const auto report = saturate(p.graph, std::span(p.m.rules).first(4), {});
  EXPECT_EQ(report.stop, Stop::kSaturated);
  // All sums of three things: 6 of two, 12 of three, in 4 classes beside the leaves.
  EXPECT_EQ(report.nodes, 3u + 6u + 6u);
}

TEST(Saturate, BudgetsAreKept) {
  const auto run = [](const Budget& budget) {
    Problem p;
    for (const auto& term : p.m.expressions) add_term(p.graph, *term);
    return saturate(p.graph, p.m.rules, budget);
  };
  const auto nodes = run({.nodes = 3000});
  EXPECT_EQ(nodes.stop, Stop::kNodes);
  EXPECT_GT(nodes.nodes, 3000u);  // at the budget, however many of them were merged on the way
  EXPECT_LE(nodes.nodes, 3010u);
  EXPECT_EQ(run({.iterations = 2}).stop, Stop::kIterations);
  EXPECT_EQ(run({.seconds = 0}).stop, Stop::kTime);
  EXPECT_EQ(run({.matches = 10}).stop, Stop::kMatches);
}

// Nodes after so many iterations, as another implementation of the same rules has them (egglog).
TEST(Saturate, MathematicsGrowsAsElsewhere) {
  Problem p;
  for (const auto& term : p.m.expressions) add_term(p.graph, *term);
  const auto report = saturate(p.graph, p.m.rules, {.nodes = 1'000'000, .iterations = 7});
  EXPECT_EQ(report.nodes_after, (std::vector<std::size_t>{69, 118, 208, 389, 784, 1576, 3160}));
}

TEST(Saturate, SameCallsSameGraph) {
  const auto run = [](std::uint64_t seed) {
    Problem p;
    std::vector<ClassId> roots;
    for (const auto& term : p.m.expressions) roots.push_back(add_term(p.graph, *term));
    saturate(p.graph, p.m.rules, {.nodes = 20'000, .seed = seed});
    std::string text;
    for (const ClassId root : roots) text += p.smallest(root) + "\n";
    return text + std::to_string(p.graph.id_count());
  };
  EXPECT_EQ(run(0), run(0));
  EXPECT_EQ(run(7), run(7));
}

TEST(Saturate, ExplainingChangesNothing) {
  Problem quiet, explains(true);
  for (auto* p : {&quiet, &explains}) {
    for (const auto& term : p->m.expressions) add_term(p->graph, *term);
    saturate(p->graph, p->m.rules, {.iterations = 5});
  }
  EXPECT_EQ(quiet.graph.node_count(), explains.graph.node_count());
  EXPECT_EQ(quiet.graph.class_count(), explains.graph.class_count());
}

TEST(Saturate, GuardsAndFunctions) {
  Vocabulary v;
  EGraph g;
  const auto n = [&](std::uint64_t value) { return g.add(v.op("n"), {}, value); };
  const ClassId sum = g.add(v.op("+"), std::vector{n(2), n(3)});
  const ClassId other = g.add(v.op("+"), std::vector{n(2), n(9)});
  Rule fold{"fold", "integers", Query({{"", parse_term("(+ n[?a] n[?b])", v)}}), {}, nullptr, {}};
  const auto a = fold.query.payload_index("?a"), b = fold.query.payload_index("?b");
  fold.guard = [&](const EGraph&, const Match& m) { return m.payloads[b] < 5; };
  fold.make = [&](EGraph& graph, const Match& m) -> std::optional<ClassId> {
    return graph.add(v.op("n"), {}, m.payloads[a] + m.payloads[b]);
  };
  saturate(g, std::vector{fold}, {});
  EXPECT_TRUE(g.same(sum, n(5)));
  EXPECT_FALSE(g.same(other, n(11)));
}

// Which classes are 0, which is learnt from below: what is above changes no node.
struct Zeros : Analysis {
  Operator zero, minus;
  std::map<ClassId, bool> known;
  explicit Zeros(Vocabulary& v) : zero(v.op("zero")), minus(v.op("-")) {}
  void made(const EGraph& graph, ClassId id) override { known[id] = graph.node(id).op == zero; }
  bool joined(const EGraph&, ClassId kept, ClassId gone) override {
    return known[gone] && !std::exchange(known[kept], true);
  }
  bool refined(const EGraph& graph, ClassId node, ClassId of) override {
    const auto view = graph.node(node);
    if (view.op != minus || !known[graph.find(view.children[0])]) return false;
    return !std::exchange(known[of], true);
  }
};

TEST(Saturate, GuardsAreAskedAgainWhereMoreBecomesKnown) {
  Vocabulary v;
  Zeros zeros(v);
  EGraph g(&zeros);
  const auto root = add_term(g, *parse_term("(f (- (- (- x))))", v));
  std::vector<Rule> rules = {rewrite("f-of-zero", "(f ?a)", "done", v),
                             rewrite("x-is-zero", "x", "zero", v)};
  const auto a = rules[0].query.class_index("?a");
  rules[0].guard = [&](const EGraph& graph, const Match& m) {
    return zeros.known[graph.find(m.classes[a])];
  };
  EXPECT_EQ(saturate(g, rules, {}).stop, Stop::kSaturated);
  EXPECT_TRUE(g.same(root, add_term(g, *parse_term("done", v))));
}

TEST(Rules, WhatIsNoRuleIsRefused) {
  Vocabulary v;
  EXPECT_THROW(rewrite("free", "(f ?a)", "(f ?b)", v), UserError);
  EXPECT_THROW(rewrite("free-payload", "(f n[?a])", "(f n[?b])", v), UserError);
  EXPECT_THROW(rewrite("everything", "?a", "(f ?a)", v), UserError);
  for (const char* text :
       {"", "(", "(f", "(f ?a))", "()", "(?f x)", "f[", "f[x]", "f[1", "(f [1])"}) {
    EXPECT_THROW(parse_term(text, v), UserError) << text;
  }
  EXPECT_THROW(parse_term(std::string(100'000, '('), v), UserError);
}

TEST(Terms, TextComesBack) {
  Vocabulary v;
  for (const char* text : {"x", "(f x ?y (g n[17] m[?p]))", "?x"}) {
    EXPECT_EQ(to_text(*parse_term(text, v), v), text);
  }
}

}  // namespace
}  // namespace assay::egraph
