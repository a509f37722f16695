// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Patterns as a question to an index: which classes can stand for the variables? A pattern is a
// list of atoms, "class c holds a node op(x, y)", and a match is found atom by atom: those of a
// class, of a child, or all of an operator, whichever is bound already. That is e-matching from the
// root of one pattern, and a join over indices where there are several.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "egraph/index.h"
#include "egraph/term.h"

namespace assay::egraph {

// What stands for the variables, in the order of Query::classes() and Query::payloads().
struct Match {
  std::span<const ClassId> classes;
  std::span<const std::uint64_t> payloads;
};

class Matches {
 public:
  std::size_t size() const { return count_; }
  Match operator[](std::size_t i) const {
    return {{classes_.data() + i * class_width_, class_width_},
            {payloads_.data() + i * payload_width_, payload_width_}};
  }

 private:
  friend class Query;
  std::size_t count_ = 0, class_width_ = 0, payload_width_ = 0;
  std::vector<ClassId> classes_;
  std::vector<std::uint64_t> payloads_;
};

// One pattern of a query, and what the class it matches is called.
struct Anchor {
  std::string name;  // "?r"
  TermPtr pattern;
};

class Query {
 public:
  // Variables of one name are one class in all patterns. Throws UserError for a pattern that is a
  // variable alone, and for a name that is a class and a payload.
  explicit Query(std::vector<Anchor> anchors);

  // Variables by name; inner nodes have classes without a name.
  const std::vector<std::string>& classes() const { return classes_; }
  const std::vector<std::string>& payloads() const { return payload_names_; }
  // Its place in a match. Throws UserError for a name that is not there.
  std::size_t class_index(std::string_view name) const;
  std::size_t payload_index(std::string_view name) const;
  const std::vector<Anchor>& anchors() const { return anchors_; }

  // All matches that have a node of `since` or later (Index::since); 0: all. At most `limit`.
  Matches find(const EGraph& graph, const Index& index, std::uint32_t since = 0,
               std::size_t limit = ~std::size_t{0}) const;

 private:
  struct Atom {
    Operator op = 0;
    std::size_t of = 0;  // variables
    std::vector<std::size_t> children;
    std::uint64_t payload = 0;
    std::size_t payload_variable = kExact;
  };
  static constexpr std::size_t kExact = ~std::size_t{0};
  // One atom of a plan: where its nodes come from, and what a node must agree with.
  enum class Access : std::uint8_t { kAll, kOfClass, kOfChild };
  struct Part {
    std::size_t variable = 0;
    bool is_bound = false;
  };
  struct Step {
    std::size_t atom = 0;
    Access access = Access::kAll;
    std::uint32_t position = 0;  // of the child, for kOfChild
    Part of;
    std::vector<Part> children;
    bool payload_is_bound = false;
  };
  using Plan = std::vector<Step>;
  struct Search;

  std::size_t add(const Term& term, std::string_view name);
  std::size_t class_variable(std::string_view name);
  Plan plan_from(std::size_t first) const;

  std::vector<Anchor> anchors_;
  std::vector<std::string> classes_, payload_names_;
  std::vector<Atom> atoms_;
  std::vector<Plan> plans_;  // beginning at each atom
};

}  // namespace assay::egraph
