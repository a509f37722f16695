// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/query.h"

#include <algorithm>

#include "base/error.h"

namespace assay::egraph {
namespace {

std::size_t index_in(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (name.empty() || found == names.end()) fail("no variable of that name: '{}'", name);
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

Query::Query(std::vector<Anchor> anchors) : anchors_(std::move(anchors)) {
  if (anchors_.empty()) fail("a query without a pattern");
  for (const auto& anchor : anchors_) {
    if (anchor.pattern->is_variable()) {
      fail("a pattern that is a variable alone matches everything: '{}'", anchor.pattern->variable);
    }
    add(*anchor.pattern, anchor.name);
  }
  for (const auto& name : payload_names_) {
    if (std::ranges::find(classes_, name) != classes_.end()) {
      fail("a variable stands for a class or for a payload: '{}'", name);
    }
  }
  for (std::size_t i = 0; i < atoms_.size(); ++i) plans_.push_back(plan_from(i));
}

std::size_t Query::class_variable(std::string_view name) {
  const auto found = std::ranges::find(classes_, name);
  if (!name.empty() && found != classes_.end()) {
    return static_cast<std::size_t>(found - classes_.begin());
  }
  classes_.emplace_back(name);
  return classes_.size() - 1;
}

std::size_t Query::add(const Term& term, std::string_view name) {
  if (term.is_variable()) return class_variable(term.variable);
  Atom atom;
  atom.op = term.op;
  atom.of = class_variable(name);
  atom.payload = term.payload;
  if (!term.payload_variable.empty()) {
    const auto found = std::ranges::find(payload_names_, term.payload_variable);
    atom.payload_variable = static_cast<std::size_t>(found - payload_names_.begin());
    if (found == payload_names_.end()) payload_names_.push_back(term.payload_variable);
  }
  const auto place = atoms_.size();
  atoms_.push_back(atom);  // the root first: its children follow it
  for (const auto& child : term.children) {
    const auto variable = add(*child, "");
    atoms_[place].children.push_back(variable);
  }
  return atoms_[place].of;
}

std::size_t Query::class_index(std::string_view name) const { return index_in(classes_, name); }
std::size_t Query::payload_index(std::string_view name) const {
  return index_in(payload_names_, name);
}

// From `first` on always an atom that has something bound: its class rather than a child, since a
// class has few nodes of one operator.
Query::Plan Query::plan_from(std::size_t first) const {
  std::vector<bool> bound(classes_.size()), payload_bound(payload_names_.size()),
      used(atoms_.size());
  Plan plan;
  for (std::size_t next = first; plan.size() < atoms_.size();) {
    const auto& atom = atoms_[next];
    used[next] = true;
    Step step;
    step.atom = next;
    step.of = {atom.of, bound[atom.of]};
    if (step.of.is_bound) {
      step.access = Access::kOfClass;
    } else if (const auto child =
                   std::ranges::find_if(atom.children, [&](auto v) { return bound[v]; });
               child != atom.children.end()) {
      step.access = Access::kOfChild;
      step.position = static_cast<std::uint32_t>(child - atom.children.begin());
    }
    bound[atom.of] = true;
    for (const auto variable : atom.children) {
      step.children.push_back({variable, bound[variable]});
      bound[variable] = true;
    }
    if (atom.payload_variable != kExact) {
      step.payload_is_bound = payload_bound[atom.payload_variable];
      payload_bound[atom.payload_variable] = true;
    }
    plan.push_back(std::move(step));

    const auto choose = [&](auto&& fits) {
      for (std::size_t i = 0; i < atoms_.size(); ++i) {
        if (!used[i] && fits(atoms_[i])) return i;
      }
      return atoms_.size();
    };
    next = choose([&](const Atom& a) { return bound[a.of]; });
    if (next == atoms_.size()) {
      next = choose([&](const Atom& a) {
        return std::ranges::any_of(a.children, [&](auto v) { return bound[v]; });
      });
    }
    if (next == atoms_.size()) next = choose([](const Atom&) { return true; });
  }
  return plan;
}

// One walk through a plan.
struct Query::Search {
  const Query& query;
  const EGraph& graph;
  const Index& index;
  const Plan& plan;
  std::uint32_t since;
  std::size_t fresh;  // the atom whose node is new; those before it in the query are old
  std::size_t limit;
  Matches& matches;
  std::vector<ClassId> classes;
  std::vector<std::uint64_t> payloads;

  void step(std::size_t at) {
    if (matches.count_ >= limit) return;
    if (at == plan.size()) {
      matches.classes_.insert(matches.classes_.end(), classes.begin(), classes.end());
      matches.payloads_.insert(matches.payloads_.end(), payloads.begin(), payloads.end());
      ++matches.count_;
      return;
    }
    const auto& s = plan[at];
    const auto& atom = query.atoms_[s.atom];
    switch (s.access) {
      case Access::kAll:
        for (const ClassId node : index.nodes(atom.op)) try_node(at, node);
        break;
      case Access::kOfClass:
        for (const ClassId node : index.nodes(classes[s.of.variable], atom.op)) try_node(at, node);
        break;
      case Access::kOfChild:
        for (const auto& parent :
             index.parents(classes[s.children[s.position].variable], atom.op)) {
          if (parent.position == s.position) try_node(at, parent.node);
        }
        break;
    }
  }

  void try_node(std::size_t at, ClassId node) {
    const auto& s = plan[at];
    const auto& atom = query.atoms_[s.atom];
    if (since > 0) {
      const bool is_new = index.since(node) >= since;
      if (s.atom == fresh ? !is_new : (s.atom < fresh && is_new)) return;
    }
    const auto view = graph.node(node);
    if (view.children.size() != s.children.size()) return;
    if (atom.payload_variable == kExact) {
      if (view.payload != atom.payload) return;
    } else if (!s.payload_is_bound) {
      payloads[atom.payload_variable] = view.payload;
    } else if (payloads[atom.payload_variable] != view.payload) {
      return;
    }
    if (!agrees(s.of, index.class_of(node))) return;
    for (std::size_t i = 0; i < s.children.size(); ++i) {
      if (!agrees(s.children[i], view.children[i])) return;
    }
    step(at + 1);
  }

  bool agrees(const Part& part, ClassId id) {
    if (part.is_bound) return classes[part.variable] == id;
    classes[part.variable] = id;
    return true;
  }
};

Matches Query::find(const EGraph& graph, const Index& index, std::uint32_t since,
                    std::size_t limit) const {
  Matches matches;
  matches.class_width_ = classes_.size();
  matches.payload_width_ = payload_names_.size();
  const auto search = [&](std::size_t first) {
    Search{*this,
           graph,
           index,
           plans_[first],
           since,
           first,
           limit,
           matches,
           std::vector<ClassId>(classes_.size()),
           std::vector<std::uint64_t>(payload_names_.size())}
        .step(0);
  };
  if (since > 0) {
    for (std::size_t i = 0; i < atoms_.size(); ++i) search(i);
  } else {
    // Begin where there is least to begin with.
    std::size_t first = 0;
    for (std::size_t i = 1; i < atoms_.size(); ++i) {
      if (index.nodes(atoms_[i].op).size() < index.nodes(atoms_[first].op).size()) first = i;
    }
    search(first);
  }
  return matches;
}

}  // namespace assay::egraph
