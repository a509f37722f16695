// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/egraph.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "egraph/explain.h"
#include "egraph/extract.h"
#include "egraph/mathematics.h"
#include "egraph/rules.h"

namespace assay::egraph {
namespace {

constexpr Operator kA = 0, kB = 1, kC = 2, kF = 3, kG = 4;

TEST(EGraph, EqualTermsAreOneClass) {
  EGraph g;
  const ClassId a = g.add(kA), b = g.add(kB);
  const ClassId fa = g.add(kF, std::vector{a}), fb = g.add(kF, std::vector{b});
  EXPECT_EQ(g.add(kF, std::vector{a}), fa);
  EXPECT_NE(g.add(kF, std::vector{a}, 7), fa);  // a payload is part of what a node is
  EXPECT_FALSE(g.same(fa, fb));
  EXPECT_EQ(g.node_count(), 5u);
  EXPECT_TRUE(g.join(a, b, Reason::given()));
  EXPECT_FALSE(g.join(b, a, Reason::given()));
  g.rebuild();
  EXPECT_TRUE(g.same(fa, fb));
  EXPECT_EQ(g.node_count(), 4u);
  EXPECT_EQ(g.class_count(), 3u);
  EXPECT_EQ(g.lookup(kF, std::vector{b}), g.find(fa));
  EXPECT_EQ(g.lookup(kG, std::vector{b}), std::nullopt);
}

TEST(EGraph, CongruenceRunsUpwardsThroughCycles) {
  // f^5(a) = a and f^3(a) = a make f(a) = a.
  EGraph g;
  std::vector<ClassId> f = {g.add(kA)};
  for (int i = 0; i < 5; ++i) f.push_back(g.add(kF, std::vector{f.back()}));
  g.join(f[5], f[0], Reason::given());
  g.rebuild();
  EXPECT_FALSE(g.same(f[1], f[0]));
  g.join(f[3], f[0], Reason::given());
  g.rebuild();
  for (const ClassId id : f) EXPECT_TRUE(g.same(id, f[0]));
  EXPECT_EQ(g.class_count(), 1u);
  EXPECT_EQ(g.node_count(), 2u);
}

// Congruence closure as one would write it down: join what is equal until nothing changes.
class Plain {
 public:
  int add(Operator op, std::vector<int> children) {
    nodes_.push_back({op, std::move(children)});
    leader_.push_back(static_cast<int>(leader_.size()));
    return leader_.back();
  }
  int find(int i) const {
    return leader_[static_cast<std::size_t>(i)] == i ? i
                                                     : find(leader_[static_cast<std::size_t>(i)]);
  }
  void join(int a, int b) { leader_[static_cast<std::size_t>(find(a))] = find(b); }
  void close() {
    for (bool again = true; again;) {
      again = false;
      std::map<std::pair<Operator, std::vector<int>>, int> seen;
      for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
        auto [op, children] = nodes_[static_cast<std::size_t>(i)];
        for (auto& child : children) child = find(child);
        const auto [at, is_new] = seen.try_emplace({op, children}, i);
        if (is_new || find(at->second) == find(i)) continue;
        join(at->second, i);
        again = true;
      }
    }
  }

 private:
  std::vector<std::pair<Operator, std::vector<int>>> nodes_;
  std::vector<int> leader_;
};

TEST(EGraph, AgreesWithPlainCongruenceClosure) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Philox random(seed);
    std::uint64_t at = 0;
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random[at++] % n); };
    EGraph g(nullptr, seed % 2 == 0);
    Plain plain;
    std::vector<ClassId> ids;
    std::vector<int> plain_ids;
    const int count = 5 + static_cast<int>(below(60));
    for (int i = 0; i < count; ++i) {
      const auto arity = ids.empty() ? 0 : below(4);
      std::vector<ClassId> children;
      std::vector<int> plain_children;
      for (std::size_t k = 0; k < arity; ++k) {
        const auto pick = below(ids.size());
        children.push_back(ids[pick]);
        plain_children.push_back(plain_ids[pick]);
      }
      const auto op = static_cast<Operator>(10 * arity + below(3));
      ids.push_back(g.add(op, children));
      plain_ids.push_back(plain.add(op, plain_children));
      if (below(5) == 0) {
        const auto a = below(ids.size()), b = below(ids.size());
        g.join(ids[a], ids[b], Reason::given());
        plain.join(plain_ids[a], plain_ids[b]);
        if (below(2) == 0) g.rebuild();
      }
    }
    g.rebuild();
    plain.close();
    std::set<ClassId> classes;
    for (std::size_t a = 0; a < ids.size(); ++a) {
      classes.insert(g.find(ids[a]));
      for (std::size_t b = 0; b < a; ++b) {
        ASSERT_EQ(g.same(ids[a], ids[b]), plain.find(plain_ids[a]) == plain.find(plain_ids[b]))
            << "seed " << seed << ", terms " << a << " and " << b;
      }
    }
    EXPECT_EQ(classes.size(), g.class_count());
    // What is live is canonical, and no two are the same.
    std::set<std::pair<Operator, std::vector<ClassId>>> nodes;
    for (ClassId n = 0; n < g.id_count(); ++n) {
      if (!g.is_live(n)) continue;
      const auto view = g.node(n);
      for (const ClassId child : view.children) EXPECT_EQ(g.find(child), child);
      EXPECT_TRUE(nodes.insert({view.op, {view.children.begin(), view.children.end()}}).second);
    }
    EXPECT_EQ(nodes.size(), g.node_count());
  }
}

// Values of ground arithmetic; folds what it knows into the graph.
class Values : public Analysis {
 public:
  void made(const EGraph& graph, ClassId id) override {
    values_.resize(graph.id_count());
    values_[id] = value_of(graph, id);
  }
  bool joined(const EGraph&, ClassId kept, ClassId gone) override {
    auto &a = values_[kept], &b = values_[gone];
    if (a && b && *a != *b) throw Conflict(fmt::format("{} is not {}", *a, *b));
    const bool knows_more = !a && b;
    if (knows_more) a = b;
    return knows_more || (a && !b);
  }
  bool refined(const EGraph& graph, ClassId node, ClassId of) override {
    if (values_[of]) return false;
    values_[of] = value_of(graph, node);
    return values_[of].has_value();
  }
  void changed(EGraph& graph, ClassId id) override {
    if (!values_[id]) return;
    graph.join(id, graph.add(kNumber, {}, static_cast<std::uint64_t>(*values_[id])),
               Reason::given());
  }
  std::optional<std::int64_t> operator[](ClassId id) const { return values_[id]; }

  static constexpr Operator kNumber = 100, kPlus = 101, kUnknown = 102;

 private:
  std::optional<std::int64_t> value_of(const EGraph& graph, ClassId node) const {
    const auto view = graph.node(node);
    if (view.op == kNumber) return static_cast<std::int64_t>(view.payload);
    if (view.op != kPlus) return std::nullopt;
    const auto a = values_[graph.find(view.children[0])], b = values_[graph.find(view.children[1])];
    if (!a || !b) return std::nullopt;
    return *a + *b;
  }
  std::vector<std::optional<std::int64_t>> values_;
};

TEST(Analysis, WhatIsKnownRisesThroughParents) {
  Values values;
  EGraph g(&values);
  const auto number = [&](std::int64_t n) {
    return g.add(Values::kNumber, {}, static_cast<std::uint64_t>(n));
  };
  const ClassId x = g.add(Values::kUnknown);
  const ClassId one = number(1);
  const ClassId sum = g.add(Values::kPlus, std::vector{x, one});
  const ClassId more = g.add(Values::kPlus, std::vector{sum, sum});
  g.rebuild();
  EXPECT_FALSE(values[g.find(more)]);
  g.join(x, number(4), Reason::given());
  g.rebuild();
  EXPECT_EQ(values[g.find(more)], 10);
  EXPECT_TRUE(g.same(more, number(10)));
  EXPECT_TRUE(g.same(sum, number(5)));
}

TEST(Analysis, AConflictIsLoud) {
  Values values;
  EGraph g(&values);
  const ClassId a = g.add(Values::kNumber, {}, 1), b = g.add(Values::kNumber, {}, 2);
  EXPECT_THROW(g.join(a, b, Reason::given()), Conflict);
}

TEST(Analysis, SaturationNamesTheRuleBehindAConflict) {
  Values values;
  EGraph g(&values);
  Vocabulary v;
  g.add(Values::kNumber, {}, 1);
  g.add(Values::kNumber, {}, 2);
  const auto number = [](std::uint64_t n) { return make_term(Values::kNumber, {}, n); };
  std::vector<Rule> rules;
  rules.push_back({"wrong", "", Query({{"", number(1)}}), {}, number(2), {}});
  try {
    saturate(g, rules, {});
    FAIL() << "nothing was thrown";
  } catch (const Conflict& e) {
    EXPECT_NE(std::string(e.what()).find("rule 'wrong'"), std::string::npos) << e.what();
  }
}

// Two rules that are right and one that is wrong; what it joined collides only when congruence is
// drawn, after the last rule in the list.
TEST(Analysis, AConflictOfConsequencesNamesAllThatJoined) {
  Values values;
  EGraph g(&values);
  Vocabulary v;
  const ClassId a = g.add(200), b = g.add(201);
  const ClassId fa = g.add(202, std::vector{a}), fb = g.add(202, std::vector{b});
  g.join(fa, g.add(Values::kNumber, {}, 1), Reason::given());
  g.join(fb, g.add(Values::kNumber, {}, 2), Reason::given());
  std::vector<Rule> rules;
  rules.push_back({"wrong", "", Query({{"", make_term(200)}}), {}, make_term(201), {}});
  rules.push_back({"idle", "", Query({{"", make_term(203)}}), {}, make_term(201), {}});
  try {
    saturate(g, rules, {});
    FAIL() << "nothing was thrown";
  } catch (const Conflict& e) {
    EXPECT_EQ(std::string(e.what()).find("what follows from 'wrong': "), 0u) << e.what();
  }
}

TEST(Extract, TermsAreAsDeepAsTheyAre) {
  EGraph g(nullptr, true);
  const ClassId leaf = g.add(kA);
  ClassId top = leaf;
  for (int i = 0; i < 300'000; ++i) top = g.add_exact(kF, std::vector{top});
  g.rebuild();
  const Extractor plain(g, [](const NodeView&, std::span<const double> children) {
    return std::accumulate(children.begin(), children.end(), 1.0);
  });
  const auto term = plain.term(top);
  EXPECT_EQ(plain.cost(top), 300'001);
  Vocabulary v;
  for (const char* name : {"a", "b", "c", "f", "g"}) v.op(name);
  EXPECT_EQ(to_text(*term, v).size(), 300'000u * 4 + 1);
  EGraph again;
  const ClassId copy = add_term(again, *term);
  again.rebuild();
  EXPECT_EQ(again.node_count(), 300'001u);
  const Extractor same(again, [](const NodeView&, std::span<const double> children) {
    return std::accumulate(children.begin(), children.end(), 1.0);
  });
  EXPECT_TRUE(equal(*same.term(copy), *term));
  g.join(leaf, g.add(kB), Reason::given());
  g.rebuild();
  ClassId other = g.add_exact(kB, {});
  for (int i = 0; i < 300'000; ++i) other = g.add_exact(kF, std::vector{other});
  g.rebuild();
  EXPECT_TRUE(g.same(top, other));
  EXPECT_THROW(explain(g, top, other), UserError);
}

TEST(Extract, TakesTheCheapestAndEndsInCycles) {
  EGraph g;
  const ClassId a = g.add(kA), b = g.add(kB);
  const ClassId fa = g.add(kF, std::vector{a});
  const ClassId gab = g.add(kG, std::vector{fa, b});
  g.join(fa, a, Reason::given());  // a = f(a): a cycle
  g.join(gab, g.add(kC), Reason::given());
  g.rebuild();
  const Extractor cheap(g, [](const NodeView& n, std::span<const double> children) {
    return std::accumulate(children.begin(), children.end(), n.op == kC ? 10.0 : 1.0);
  });
  EXPECT_EQ(cheap.cost(gab), 3);
  const auto term = cheap.term(gab);
  EXPECT_EQ(term->op, kG);
  EXPECT_EQ(term->children[0]->op, kA);
}

}  // namespace
}  // namespace assay::egraph
