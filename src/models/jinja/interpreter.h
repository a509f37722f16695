// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs a template's tree.

#include <ctime>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "models/jinja/methods.h"
#include "models/jinja/syntax.h"

namespace assay::models::jinja {

using Variables = std::map<std::string, Value, std::less<>>;

// What a name means within a loop's turn, a macro's call or a block; else what it means around.
struct Scope;
// A macro sees what its definition sees. It cannot outlive the scope in which it is defined: no
// container or namespace takes it.
struct Macro {
  const Statement* definition;
  Scope* around;
};
struct Scope {
  explicit Scope(Scope* parent) : around(parent) {}
  Scope* around;
  std::map<std::string_view, Value> names;
  std::deque<Macro> macros;
};

struct Loop {
  const Values& items;
  std::size_t turn = 0;
};

class Interpreter {
 public:
  // All of them live as long. `now` is what strftime_now() formats, in local time.
  Interpreter(const Variables& variables, std::time_t now, Work& work)
      : variables_(variables), now_(now), work_(work) {}

  std::string run(const Body& body);

 private:
  enum class Flow { kGoesOn, kBreaks, kContinues };

  // One level of the stack: a call of a macro within a macro within a loop.
  class Deeper {
   public:
    explicit Deeper(Interpreter& interpreter) : interpreter_(interpreter) {
      if (++interpreter.depth_ > kDeepest) interpreter.work_.refuse("calls too deep: a recursion?");
      interpreter.work_.spend(kStep);
    }
    ~Deeper() { --interpreter_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    static constexpr int kDeepest = 1000;
    static constexpr std::size_t kStep = 64;  // a step's price: four million are affordable
    Interpreter& interpreter_;
  };

  Flow run_body(const Body& body, Scope& scope);
  Flow run_statement(const Statement& statement, Scope& scope);
  Flow run_if(const Statement& statement, Scope& scope);
  void run_for(const Statement& statement, Scope& scope);
  void print(std::string_view text);
  // What a body prints in a scope of its own.
  std::string printed_by(const Body& body, Scope& scope);
  void assign(const std::vector<std::string>& names, const Value& value, Scope& scope);
  void set_member(Namespace& space, std::string_view name, const Value& value);

  Value evaluate(const Expression& expression, Scope& scope);
  Value evaluate_container(const Expression& expression, Scope& scope);
  Value evaluate_logic(const Expression& expression, Scope& scope);
  Value evaluate_compare(const Expression& expression, Scope& scope);
  Value evaluate_concat(const Expression& expression, Scope& scope);
  Value evaluate_slice(const Expression& expression, Scope& scope);
  Value evaluate_applied(const Expression& expression, Scope& scope);
  Value evaluate_call(const Expression& expression, Scope& scope);
  Value look_up(std::string_view name, const Scope& scope);
  Arguments arguments_of(const Expression& expression, Scope& scope);
  Value call(const Value& callee, Arguments arguments);
  Value call_macro(const Macro& macro, Arguments& arguments);
  Value make_range(Arguments& arguments);
  Value formatted_now(const std::string& format);

  const Variables& variables_;
  const std::time_t now_;
  Work& work_;
  std::string out_;
  int depth_ = 0;
};

}  // namespace assay::models::jinja
