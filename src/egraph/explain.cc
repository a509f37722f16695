// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/explain.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/error.h"

namespace assay::egraph {
namespace {

constexpr int kDeepestProof = 1000;  // each step is written anew for every operator around it

class Explainer {
 public:
  Explainer(const Proof& proof, std::size_t limit) : proof_(proof), limit_(limit) {}

  // `depth` operators stand around the two.
  std::vector<ProofStep> between(ClassId a, ClassId b, int depth = 0) {
    if (depth > kDeepestProof) fail("an equality inside more than {} operators", kDeepestProof);
    std::vector<ProofStep> steps;
    for (const auto& link : proof_.path(a, b)) {
      if (link.why.kind != Reason::Kind::kCongruence) {
        steps.push_back({link.why, link.forward, term(link.from), term(link.to)});
        continue;
      }
      // Child by child: what proves the children equal, inside this operator.
      auto now = *term(link.from);
      const auto from = proof_.term(link.from).children, to = proof_.term(link.to).children;
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (from[i] == to[i]) continue;
        for (auto& inner : between(from[i], to[i], depth + 1)) {
          const auto with = [&](const TermPtr& child) {
            now.children[i] = child;
            return std::make_shared<const Term>(now);
          };
          const auto before = with(inner.before);
          steps.push_back({inner.why, inner.forward, before, with(inner.after)});
          check_length(steps);
        }
      }
    }
    check_length(steps);
    return steps;
  }

 private:
  void check_length(const std::vector<ProofStep>& steps) const {
    if (steps.size() > limit_) fail("the explanation has more than {} steps", limit_);
  }
  TermPtr term(ClassId id) {
    return term_at(
        id, [&](ClassId at) { return proof_.term(at); }, terms_);
  }

  const Proof& proof_;
  const std::size_t limit_;
  std::unordered_map<ClassId, TermPtr> terms_;
};

using Substitution = std::map<std::string, TermPtr>;
using Payloads = std::map<std::string, std::uint64_t>;

bool matches(const Term& pattern, const TermPtr& term, Substitution& classes, Payloads& payloads) {
  if (pattern.is_variable()) {
    const auto [at, is_new] = classes.try_emplace(pattern.variable, term);
    return is_new || equal(*at->second, *term);
  }
  if (pattern.op != term->op || pattern.children.size() != term->children.size()) return false;
  if (!pattern.payload_variable.empty()) {
    const auto [at, is_new] = payloads.try_emplace(pattern.payload_variable, term->payload);
    if (!is_new && at->second != term->payload) return false;
  } else if (pattern.payload != term->payload) {
    return false;
  }
  for (std::size_t i = 0; i < pattern.children.size(); ++i) {
    if (!matches(*pattern.children[i], term->children[i], classes, payloads)) return false;
  }
  return true;
}

// Whether the rule makes `to` of `from`, as a whole.
bool rewrites(const Rule& rule, const TermPtr& from, const TermPtr& to) {
  Substitution classes;
  Payloads payloads;
  return matches(*rule.query.anchors().front().pattern, from, classes, payloads) &&
         matches(*rule.result, to, classes, payloads);
}

// Whether it does so at one place, and all else is equal.
bool rewrites_inside(const Rule& rule, TermPtr from, TermPtr to) {
  while (!rewrites(rule, from, to)) {
    if (from->op != to->op || from->payload != to->payload ||
        from->children.size() != to->children.size()) {
      return false;
    }
    std::size_t place = from->children.size(), others = 0;
    for (std::size_t i = 0; i < from->children.size(); ++i) {
      if (equal(*from->children[i], *to->children[i])) continue;
      place = i;
      ++others;
    }
    if (others != 1) return false;
    std::tie(from, to) = std::pair(from->children[place], to->children[place]);
  }
  return true;
}

}  // namespace

std::vector<ProofStep> explain(const EGraph& graph, ClassId a, ClassId b, std::size_t limit) {
  if (!graph.same(a, b)) fail("classes {} and {} are not known to be equal", a, b);
  return Explainer(graph.proof(), limit).between(a, b);
}

std::string check_proof(std::span<const ProofStep> steps, std::span<const Rule> rules,
                        const Vocabulary& vocabulary) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& s = steps[i];
    const auto wrong = [&](const char* what) {
      return fmt::format("step {}: {}: {} to {}", i + 1, what, to_text(*s.before, vocabulary),
                         to_text(*s.after, vocabulary));
    };
    if (i > 0 && !equal(*steps[i - 1].after, *s.before)) return wrong("does not follow the last");
    if (s.why.kind == Reason::Kind::kGiven) continue;
    if (s.why.kind != Reason::Kind::kRule || s.why.rule >= rules.size()) return wrong("no rule");
    const auto& rule = rules[s.why.rule];
    if (!rule.result) continue;
    if (!rewrites_inside(rule, s.forward ? s.before : s.after, s.forward ? s.after : s.before)) {
      return wrong(("rule '" + rule.name + "' does not do this").c_str());
    }
  }
  return {};
}

std::string to_text(std::span<const ProofStep> steps, std::span<const Rule> rules,
                    const Vocabulary& vocabulary) {
  if (steps.empty()) return "the same term\n";
  std::string text = to_text(*steps.front().before, vocabulary) + "\n";
  for (const auto& s : steps) {
    const bool is_rule = s.why.kind == Reason::Kind::kRule;
    text += fmt::format("  {} {}\n{}\n", s.forward ? "→" : "←",
                        is_rule ? rules[s.why.rule].name : "given", to_text(*s.after, vocabulary));
  }
  return text;
}

}  // namespace assay::egraph
