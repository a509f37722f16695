// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/query.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/philox.h"

namespace assay::egraph {
namespace {

using Found = std::set<std::pair<std::vector<ClassId>, std::vector<std::uint64_t>>>;

void add_all(Found& to, const Matches& matches) {
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const auto m = matches[i];
    to.insert({{m.classes.begin(), m.classes.end()}, {m.payloads.begin(), m.payloads.end()}});
  }
}

TEST(Query, FindsByClassPayloadAndRepeatedVariable) {
  EGraph g;
  Vocabulary v;
  const auto op = [&](const char* name, std::vector<ClassId> children = {},
                      std::uint64_t payload = 0) { return g.add(v.op(name), children, payload); };
  const ClassId x = op("x"), y = op("y"), two = op("n", {}, 2);
  op("*", {x, two});
  op("*", {x, x});
  op("*", {y, op("n", {}, 3)});
  g.rebuild();
  Index index;
  index.update(g);
  const auto count = [&](const char* text) {
    return Query({{"", parse_term(text, v)}}).find(g, index).size();
  };
  EXPECT_EQ(count("(* ?a ?b)"), 3u);
  EXPECT_EQ(count("(* ?a ?a)"), 1u);
  EXPECT_EQ(count("(* ?a n[2])"), 1u);
  EXPECT_EQ(count("(* ?a n[?p])"), 2u);
  EXPECT_EQ(count("(* ?a n[4])"), 0u);
  EXPECT_EQ(count("(unseen ?a)"), 0u);
  const Query payload({{"", parse_term("(* ?a n[?p])", v)}});
  const auto matches = payload.find(g, index);
  EXPECT_EQ(matches[0].payloads[payload.payload_index("?p")], 2u);
  EXPECT_EQ(matches[0].classes[payload.class_index("?a")], x);
  EXPECT_THROW(payload.class_index("?z"), UserError);
  EXPECT_THROW(Query({{"", parse_term("?a", v)}}), UserError);
  EXPECT_THROW(Query({{"", parse_term("(f ?a g[?a])", v)}}), UserError);
}

TEST(Query, SeveralAnchorsAreJoined) {
  EGraph g;
  Vocabulary v;
  const ClassId x = g.add(v.op("x")), y = g.add(v.op("y")), z = g.add(v.op("z"));
  for (const auto& [a, b] :
       std::vector<std::pair<ClassId, ClassId>>{{x, y}, {y, z}, {z, x}, {x, z}}) {
    g.add(v.op("edge"), std::vector{a, b});
  }
  g.rebuild();
  Index index;
  index.update(g);
  const Query paths({{"?e", parse_term("(edge ?a ?b)", v)}, {"?f", parse_term("(edge ?b ?c)", v)}});
  // Paths of two edges: x-y-z, y-z-x, z-x-y, z-x-z, x-z-x.
  EXPECT_EQ(paths.find(g, index).size(), 5u);
  const Query triangles({{"?e", parse_term("(edge ?a ?b)", v)},
                         {"?f", parse_term("(edge ?b ?c)", v)},
                         {"?h", parse_term("(edge ?c ?a)", v)}});
  EXPECT_EQ(triangles.find(g, index).size(), 3u);
}

// What a query finds, by trying every assignment of nodes to atoms.
Found by_hand(const EGraph& g, const Term& pattern, const Query& query) {
  Found found;
  struct Todo {
    const Term* term;
    ClassId of;
  };
  std::function<void(std::vector<Todo>, std::map<std::string, ClassId>, std::vector<ClassId>)> go =
      [&](std::vector<Todo> todo, std::map<std::string, ClassId> names,
          std::vector<ClassId> inner) {
        if (todo.empty()) {
          std::vector<ClassId> key;
          std::size_t next = 0;
          for (const auto& name : query.classes())
            key.push_back(name.empty() ? inner[next++] : names[name]);
          found.insert({key, {}});
          return;
        }
        const Todo now = todo.front();
        todo.erase(todo.begin());
        if (now.term->is_variable()) {
          const auto [it, is_new] = names.try_emplace(now.term->variable, now.of);
          if (is_new || it->second == now.of) go(todo, names, inner);
          return;
        }
        for (ClassId n = 0; n < g.id_count(); ++n) {
          if (!g.is_live(n) || g.find(n) != now.of) continue;
          const auto view = g.node(n);
          if (view.op != now.term->op || view.children.size() != now.term->children.size())
            continue;
          std::vector<Todo> more;
          for (std::size_t i = 0; i < view.children.size(); ++i)
            more.push_back({now.term->children[i].get(), view.children[i]});
          more.insert(more.end(), todo.begin(), todo.end());
          auto deeper = inner;
          deeper.push_back(now.of);
          go(more, names, deeper);
        }
      };
  std::set<ClassId> roots;
  for (ClassId n = 0; n < g.id_count(); ++n) roots.insert(g.find(n));
  for (const ClassId root : roots) go({{&pattern, root}}, {}, {});
  return found;
}

TEST(Query, FindsWhatTryingEverythingFinds) {
  Vocabulary v;
  const std::vector<const char*> patterns = {"(f ?a ?b)",
                                             "(f ?a ?a)",
                                             "(f (f ?a ?b) ?c)",
                                             "(f ?a (g ?a))",
                                             "(g (g ?x))",
                                             "(f (g ?a) (f ?b ?a))",
                                             "(f (f ?a ?b) (f ?b ?a))"};
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Philox random(seed);
    std::uint64_t at = 0;
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random[at++] % n); };
    EGraph g;
    std::vector<ClassId> ids;
    for (const char* leaf : {"x", "y", "z"}) ids.push_back(g.add(v.op(leaf)));
    const auto grow = [&](int count) {
      for (int i = 0; i < count; ++i) {
        const auto pick = [&] { return ids[below(ids.size())]; };
        ids.push_back(below(3) == 0 ? g.add(v.op("g"), std::vector{pick()})
                                    : g.add(v.op("f"), std::vector{pick(), pick()}));
        if (below(6) == 0) g.join(pick(), pick(), Reason::given());
      }
      g.rebuild();
    };
    Index index;
    // What is found in parts, as nodes appear and classes merge, is what is found at the end.
    grow(12);
    index.update(g);
    std::vector<Query> queries;
    std::vector<Found> in_parts(patterns.size());
    for (const auto* text : patterns)
      queries.emplace_back(std::vector<Anchor>{{"", parse_term(text, v)}});
    const auto canonical = [&](const Found& found) {
      Found now;
      for (auto [classes, payloads] : found) {
        for (auto& id : classes) id = g.find(id);
        now.insert({classes, payloads});
      }
      return now;
    };
    for (std::size_t q = 0; q < queries.size(); ++q)
      add_all(in_parts[q], queries[q].find(g, index));
    for (int round = 0; round < 3; ++round) {
      grow(6);
      index.update(g);
      for (std::size_t q = 0; q < queries.size(); ++q) {
        add_all(in_parts[q], queries[q].find(g, index, index.now()));
        const auto expected = by_hand(g, *queries[q].anchors()[0].pattern, queries[q]);
        Found whole;
        add_all(whole, queries[q].find(g, index));
        EXPECT_EQ(whole, expected) << patterns[q] << " seed " << seed;
        EXPECT_EQ(canonical(in_parts[q]), expected) << patterns[q] << " seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace assay::egraph
