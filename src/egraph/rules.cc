// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/rules.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/attend.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/philox.h"

namespace assay::egraph {
namespace {

double seconds_since(std::int64_t start_ns) {
  return 1e-9 * static_cast<double>(monotonic_ns() - start_ns);
}

// One rule with what is made of it once.
struct Ready {
  const Rule* rule = nullptr;
  std::optional<Builder> left, right;  // left: for explanations only
};

Ready ready(const Rule& rule, bool explains) {
  Ready r{&rule, {}, {}};
  const auto& anchor = rule.query.anchors().front();
  if (rule.result) r.right.emplace(rule.result, rule.query);
  if (explains) r.left.emplace(anchor.pattern, rule.query);
  return r;
}

// Joins what the rule says is equal; false: nothing new.
bool apply(EGraph& graph, const Ready& r, std::uint32_t number, const Match& match) {
  const auto& rule = *r.rule;
  if (rule.guard && !rule.guard(graph, match)) return false;
  // An anchor is the first atom of its query, and its class the first variable.
  ClassId left = match.classes[0];
  if (r.left) left = r.left->build_exact(graph, match);
  std::optional<ClassId> right;
  if (r.right) {
    right = graph.explains() ? r.right->build_exact(graph, match) : r.right->build(graph, match);
  } else {
    right = rule.make(graph, match);
  }
  return right && graph.join(left, *right, Reason::by_rule(number));
}

// Who may be behind a conflict: the rule that just joined two classes (or one whose consequences
// the two already hold), or, while consequences are drawn, all that joined something since the
// last.
std::string suspects(std::span<const Rule> rules, std::optional<std::size_t> at_work,
                     const std::vector<bool>& open) {
  std::string names;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!open[i] || i == at_work) continue;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", rules[i].name);
  }
  if (at_work) {
    const auto others = names.empty() ? "" : fmt::format(" (or one of {})", names);
    return fmt::format("rule '{}'{}", rules[*at_work].name, others);
  }
  if (names.empty()) return "what was given";
  return fmt::format("what follows from {}", names);
}

std::vector<std::size_t> order_of(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (seed == 0) return order;
  const Philox random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random[i] % i]);
  return order;
}

}  // namespace

Builder::Builder(const TermPtr& term, const Query& query) { root_ = add(*term, query); }

Builder::Argument Builder::add(const Term& term, const Query& query) {
  if (term.is_variable()) {
    return {true, static_cast<std::uint32_t>(query.class_index(term.variable))};
  }
  std::vector<Argument> arguments;
  for (const auto& child : term.children) arguments.push_back(add(*child, query));
  Instruction instruction{term.op,
                          term.payload,
                          {},
                          static_cast<std::uint32_t>(arguments_.size()),
                          static_cast<std::uint32_t>(arguments.size())};
  if (!term.payload_variable.empty()) {
    instruction.payload_variable =
        static_cast<std::uint32_t>(query.payload_index(term.payload_variable));
  }
  arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
  instructions_.push_back(instruction);
  return {false, static_cast<std::uint32_t>(instructions_.size() - 1)};
}

ClassId Builder::run(EGraph& graph, const Match& match, bool exact) const {
  constexpr std::size_t kFew = 16;
  ClassId few[kFew], children_few[kFew];
  std::vector<ClassId> many, children_many;
  ClassId *built = few, *children = children_few;
  if (instructions_.size() > kFew) many.resize(instructions_.size()), built = many.data();
  if (arguments_.size() > kFew)
    children_many.resize(arguments_.size()), children = children_many.data();
  const auto value = [&](const Argument& argument) {
    return argument.is_variable ? match.classes[argument.index] : built[argument.index];
  };
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const auto& in = instructions_[i];
    for (std::uint32_t k = 0; k < in.count; ++k) children[k] = value(arguments_[in.first + k]);
    const auto payload = in.payload_variable ? match.payloads[*in.payload_variable] : in.payload;
    const std::span<const ClassId> of(children, in.count);
    built[i] = exact ? graph.add_exact(in.op, of, payload) : graph.add(in.op, of, payload);
  }
  return value(root_);
}

Rule rewrite(std::string name, std::string_view left, std::string_view right,
             Vocabulary& vocabulary) {
  Rule rule{std::move(name),
            "",
            Query({{"", parse_term(left, vocabulary)}}),
            {},
            parse_term(right, vocabulary),
            {}};
  [[maybe_unused]] const Builder can_be_built(rule.result, rule.query);  // else it is refused
  return rule;
}

const char* name_of(Stop stop) {
  switch (stop) {
    case Stop::kSaturated:
      return "saturated";
    case Stop::kNodes:
      return "nodes";
    case Stop::kIterations:
      return "iterations";
    case Stop::kTime:
      return "time";
    case Stop::kMatches:
      return "matches";
  }
  return "?";
}

SaturationReport saturate(EGraph& graph, std::span<const Rule> rules, const Budget& budget) {
  const auto start_ns = monotonic_ns();
  SaturationReport report;
  report.rules.resize(rules.size());
  std::vector<Ready> all;
  for (const auto& rule : rules) all.push_back(ready(rule, graph.explains()));
  const auto order = order_of(rules.size(), budget.seed);
  const auto finish = [&](Stop why) {
    report.stop = why;
    report.nodes = graph.node_count();
    report.classes = graph.class_count();
    return report;
  };
  // Rules that joined something whose consequences are not drawn yet, and the one at work.
  std::vector<bool> open(rules.size());
  std::optional<std::size_t> at_work;
  const auto rebuild = [&] {
    const auto from = monotonic_ns();
    const auto before = std::exchange(at_work, std::nullopt);
    graph.rebuild();
    at_work = before;
    std::fill(open.begin(), open.end(), false);
    report.rebuild_s += seconds_since(from);
  };

  try {
    rebuild();
    Index index;
    for (; report.iterations < budget.iterations; ++report.iterations) {
      const auto index_from = monotonic_ns();
      index.update(graph);
      report.index_s += seconds_since(index_from);
      std::vector<Matches> found(rules.size());
      for (const auto i : order) {
        attend();
        if (seconds_since(start_ns) > budget.seconds) return finish(Stop::kTime);
        const auto from = monotonic_ns();
        // What was there at the last update has been matched then.
        const auto since = index.now() > 1 ? index.now() : 0;
        found[i] = rules[i].query.find(graph, index, since, budget.matches);
        report.rules[i].matches += found[i].size();
        report.rules[i].search_s += seconds_since(from);
        if (found[i].size() >= budget.matches) return finish(Stop::kMatches);
      }
      const auto nodes_before = graph.node_count();
      std::size_t joins = 0;
      for (const auto i : order) {
        at_work = i;
        const auto from = monotonic_ns();
        for (std::size_t k = 0; k < found[i].size(); ++k) {
          const bool is_new = apply(graph, all[i], static_cast<std::uint32_t>(i), found[i][k]);
          report.rules[i].joins += is_new;
          joins += is_new;
          if (is_new) open[i] = true;
          if (graph.node_count() <= budget.nodes) continue;
          rebuild();  // nodes that are equal count once
          if (graph.node_count() <= budget.nodes) continue;
          ++report.iterations;
          return finish(Stop::kNodes);
        }
        report.rules[i].apply_s += seconds_since(from);
        if (seconds_since(start_ns) > budget.seconds) {
          rebuild();
          return finish(Stop::kTime);
        }
      }
      at_work.reset();
      rebuild();
      report.nodes_after.push_back(graph.node_count());
      if (joins == 0 && graph.node_count() == nodes_before) return finish(Stop::kSaturated);
    }
  } catch (const Conflict& conflict) {
    throw Conflict(fmt::format("{}: {}", suspects(rules, at_work, open), conflict.what()));
  }
  return finish(Stop::kIterations);
}

}  // namespace assay::egraph
