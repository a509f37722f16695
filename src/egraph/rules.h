// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rules, and running them until nothing new follows or a budget is spent.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "egraph/egraph.h"
#include "egraph/query.h"

namespace assay::egraph {

// Thrown by an Analysis: what is known of two classes that were joined cannot both be true, so a
// rule is wrong. saturate() adds which ones it may be.
class Conflict : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What is built where a rule matches: a term over its variables.
class Builder {
 public:
  // Throws UserError for a variable that the query does not have.
  Builder(const TermPtr& term, const Query& query);
  ClassId build(EGraph& graph, const Match& match) const { return run(graph, match, false); }
  // The very term (EGraph::add_exact).
  ClassId build_exact(EGraph& graph, const Match& match) const { return run(graph, match, true); }

 private:
  struct Argument {
    bool is_variable = false;
    std::uint32_t index = 0;  // of the match's classes, or of what was built before
  };
  struct Instruction {
    Operator op = 0;
    std::uint64_t payload = 0;
    std::optional<std::uint32_t> payload_variable;
    std::uint32_t first = 0, count = 0;  // arguments
  };
  Argument add(const Term& term, const Query& query);
  ClassId run(EGraph& graph, const Match& match, bool exact) const;

  std::vector<Instruction> instructions_;
  std::vector<Argument> arguments_;
  Argument root_;
};

struct Rule {
  std::string name;
  std::string note;  // why it is legal
  Query query;       // the class of its first anchor is what is joined
  // Whether a match counts. None: all do. It is asked when the match's last node appears, and again
  // where more becomes known of a class below one of its nodes: what it says may depend on facts
  // of those, not on what is known of an anchor's own class.
  std::function<bool(const EGraph&, const Match&)> guard;
  // What is equal to the first anchor's class there: a term, or whatever a function makes of it
  // (nothing: this match does not count).
  TermPtr result;
  std::function<std::optional<ClassId>(EGraph&, const Match&)> make;
};

// LEFT and RIGHT as text (term.h). Throws UserError where it is not a rule: RIGHT has a variable
// that LEFT has not.
Rule rewrite(std::string name, std::string_view left, std::string_view right,
             Vocabulary& vocabulary);

struct Budget {
  std::size_t nodes = 100'000;  // live ones: equal nodes count once
  int iterations = 30;
  double seconds = 60;
  std::size_t matches = 1'000'000;  // of one rule in one iteration
  std::uint64_t seed = 0;           // not 0: the order of rules is shuffled by it
};

enum class Stop : std::uint8_t { kSaturated, kNodes, kIterations, kTime, kMatches };
const char* name_of(Stop stop);

struct RuleReport {
  std::size_t matches = 0, joins = 0;
  double search_s = 0, apply_s = 0;
};
struct SaturationReport {
  Stop stop = Stop::kSaturated;
  int iterations = 0;
  std::size_t nodes = 0, classes = 0;
  double index_s = 0, rebuild_s = 0;
  std::vector<RuleReport> rules;         // as given
  std::vector<std::size_t> nodes_after;  // each iteration
};

// In each iteration all rules are matched first, then applied; a match is found when
// its last node appears (Rule::guard). What stops it is the first budget spent, nodes at once and
// the rest between rules. The graph is clean at the end. Reasons of joins are the rules' indices.
//
// Throws Conflict, whose message names the rule at hand and those whose consequences were not drawn
// yet: one of them, or of an earlier iteration where their facts are old, is wrong.
SaturationReport saturate(EGraph& graph, std::span<const Rule> rules, const Budget& budget);

}  // namespace assay::egraph
