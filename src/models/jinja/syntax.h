// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A template as a tree.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/jinja/value.h"

namespace assay::models::jinja {

struct Expression {
  enum Kind {
    kConstant,     // value
    kName,         // name
    kTuple,        // parts
    kList,         // parts
    kDict,         // parts: key, value, key, value, …
    kAttribute,    // parts[0].name
    kItem,         // parts[0][parts[1]]
    kSlice,        // parts[0][parts[1]:parts[2]:parts[3]], of which the last three may be null
    kCall,         // parts[0](arguments)
    kFilter,       // parts[0] | name(arguments)
    kTest,         // parts[0] is name(arguments)
    kNot,          // not parts[0]
    kNegate,       // -parts[0]
    kAnd,          // parts[0] and parts[1]
    kOr,           // parts[0] or parts[1]
    kCompare,      // parts[0] operators[0] parts[1] operators[1] parts[2] …
    kArithmetic,   // parts[0] name parts[1]
    kConcat,       // parts[0] ~ parts[1] ~ …
    kConditional,  // parts[1] if parts[0] else parts[2], of which the last may be null
  } kind;
  int line;
  std::string name;
  Value value;
  // Arguments stand behind parts[0]: first those by place, then those by keyword.
  std::vector<std::unique_ptr<Expression>> parts;
  std::vector<std::string> keywords;
  std::vector<std::string> operators;  // == != < <= > >= in, "not in"
  int depth;                           // levels of the tree
};
using ExpressionPtr = std::unique_ptr<Expression>;

struct Statement;
using Body = std::vector<Statement>;

struct Statement {
  enum Kind {
    kData,        // text
    kPrint,       // expression
    kIf,          // branches[0].test, …, and one without a test for else
    kFor,         // for names in expression if branches[0].test: its body; else branches[1].body
    kSet,         // names = expression
    kSetBlock,    // names[0] = what branches[0].body prints
    kMacro,       // text(names): branches[0].body; the last of the names have `defaults`
    kGeneration,  // branches[0].body, in a scope of its own
    kBreak,
    kContinue,
  } kind;
  struct Branch {
    ExpressionPtr test;
    Body body;
  };
  int line;
  std::string text;
  std::vector<std::string> names;  // "space.member" for a namespace's
  ExpressionPtr expression;
  std::vector<ExpressionPtr> defaults;
  std::vector<Branch> branches;
};

// Throws UserError by `work`: what is no template, and, by name, what is beyond the subset
// (docs/llm.md).
Body parse_template(std::string_view source, Work& work);

}  // namespace assay::models::jinja
