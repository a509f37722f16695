// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/jinja/interpreter.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/jinja/operations.h"

namespace assay::models::jinja {

std::string Interpreter::run(const Body& body) {
  Scope scope(nullptr);
  run_body(body, scope);
  return std::move(out_);
}

void Interpreter::print(std::string_view text) {
  work_.spend(text.size());
  out_ += text;
}

Interpreter::Flow Interpreter::run_body(const Body& body, Scope& scope) {
  for (const auto& statement : body) {
    const auto flow = run_statement(statement, scope);
    if (flow != Flow::kGoesOn) return flow;
  }
  return Flow::kGoesOn;
}

Interpreter::Flow Interpreter::run_statement(const Statement& statement, Scope& scope) {
  const Deeper deeper(*this);
  work_.line = statement.line;
  switch (statement.kind) {
    case Statement::kData:
      print(statement.text);
      break;
    case Statement::kPrint:
      print(printed(evaluate(*statement.expression, scope), work_));
      break;
    case Statement::kIf:
      return run_if(statement, scope);
    case Statement::kFor:
      run_for(statement, scope);
      break;
    case Statement::kSet:
      assign(statement.names, evaluate(*statement.expression, scope), scope);
      break;
    case Statement::kSetBlock: {
      auto text = printed_by(statement.branches[0].body, scope);
      assign(statement.names, Value::text(std::move(text), work_), scope);
      break;
    }
    case Statement::kMacro:
      work_.spend(sizeof(Macro));
      scope.macros.push_back({&statement, &scope});
      scope.names[statement.text] = Value(static_cast<const Macro*>(&scope.macros.back()));
      break;
    case Statement::kGeneration: {
      Scope inner(&scope);
      run_body(statement.branches[0].body, inner);
      break;
    }
    case Statement::kBreak:
      return Flow::kBreaks;
    case Statement::kContinue:
      return Flow::kContinues;
  }
  return Flow::kGoesOn;
}

Interpreter::Flow Interpreter::run_if(const Statement& statement, Scope& scope) {
  for (const auto& branch : statement.branches) {
    if (!branch.test || is_true(evaluate(*branch.test, scope))) return run_body(branch.body, scope);
  }
  return Flow::kGoesOn;
}

void Interpreter::run_for(const Statement& statement, Scope& scope) {
  auto items = elements(evaluate(*statement.expression, scope), work_);
  const auto& [test, body] = statement.branches[0];
  if (test) {
    Values kept;
    for (const auto& one : items) {
      Scope inner(&scope);
      assign(statement.names, one, inner);
      if (is_true(evaluate(*test, inner))) kept.push_back(one);
    }
    items = std::move(kept);
  }
  Loop loop{items};
  for (; loop.turn < items.size(); ++loop.turn) {
    Scope inner(&scope);
    inner.names["loop"] = Value(static_cast<const Loop*>(&loop));
    assign(statement.names, items[loop.turn], inner);
    if (run_body(body, inner) == Flow::kBreaks) break;
  }
  if (items.empty() && statement.branches.size() > 1) {
    Scope inner(&scope);
    run_body(statement.branches[1].body, inner);
  }
}

std::string Interpreter::printed_by(const Body& body, Scope& scope) {
  auto before = std::exchange(out_, {});
  Scope inner(&scope);
  run_body(body, inner);
  return std::exchange(out_, std::move(before));
}

void Interpreter::assign(const std::vector<std::string>& names, const Value& value, Scope& scope) {
  work_.spend(names.size() * sizeof(Value));
  if (names.size() > 1) {
    const auto parts = elements(value, work_);
    if (parts.size() != names.size()) {
      work_.refuse(fmt::format("{} names for {} values", names.size(), parts.size()));
    }
    for (std::size_t i = 0; i < parts.size(); ++i) scope.names[names[i]] = parts[i];
    return;
  }
  const std::string_view name = names[0];
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) {
    scope.names[name] = value;
    return;
  }
  auto* space = look_up(name.substr(0, dot), scope).name_space();
  if (space == nullptr) work_.refuse(fmt::format("'{}' is no namespace", name.substr(0, dot)));
  set_member(*space, name.substr(dot + 1), value);
}

void Interpreter::set_member(Namespace& space, std::string_view name, const Value& value) {
  // As a list of its own it is held to what containers take.
  Value::list({value}, work_);
  space.members[std::string(name)] = value;
}

Value Interpreter::call_macro(const Macro& macro, Arguments& arguments) {
  const Deeper deeper(*this);
  const auto& definition = *macro.definition;
  const int line = work_.line;
  Scope scope(macro.around);
  const auto without_default = definition.names.size() - definition.defaults.size();
  for (std::size_t i = 0; i < definition.names.size(); ++i) {
    auto value = arguments.take(i, definition.names[i]);
    if (value.is_undefined() && i >= without_default) {
      value = evaluate(*definition.defaults[i - without_default], scope);
    }
    scope.names[definition.names[i]] =
        value.is_undefined() ? Value::undefined(definition.names[i]) : value;
  }
  arguments.finish(fmt::format("macro '{}'", definition.text), work_);
  auto text = printed_by(definition.branches[0].body, scope);
  work_.line = line;
  return Value::text(std::move(text), work_);
}

Value Interpreter::make_range(Arguments& arguments) {
  const auto given = arguments.by_place().size();
  const auto a = arguments.integer_or(0, "start", 0, work_);
  const auto b = arguments.integer_or(1, "stop", 0, work_);
  const auto step = arguments.integer_or(2, "step", 1, work_);
  const auto begin = given < 2 ? 0 : a;
  const auto end = given < 2 ? a : b;
  if (step == 0) work_.refuse("range(): a step of 0");
  constexpr std::int64_t kMost = 100000;
  const auto far = [](std::int64_t x) { return x > (1LL << 60) || x < -(1LL << 60); };
  if (far(begin) || far(end) || far(step) || (end - begin) / step > kMost) {
    work_.refuse(fmt::format("range() of more than {}", kMost));
  }
  Values numbers;
  for (auto at = begin; step > 0 ? at < end : at > end; at += step) numbers.push_back(Value(at));
  return Value::list(std::move(numbers), work_);
}

Value Interpreter::formatted_now(const std::string& format) {
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    const char letter = ++i < format.size() ? format[i] : '\0';
    if (std::string_view("aAbBcdeDFHIjmMpSTUwWxXyY%").find(letter) == std::string_view::npos) {
      work_.refuse(fmt::format("strftime_now(): '%{}' is not supported", letter));
    }
  }
  std::tm local = {};
  localtime_r(&now_, &local);
  char text[512];
  const auto size = std::strftime(text, sizeof text, format.c_str(), &local);
  if (size == 0 && !format.empty()) work_.refuse("strftime_now(): a format too long");
  return Value::text(std::string(text, size), work_);
}

Value Interpreter::call(const Value& callee, Arguments arguments) {
  if (const auto* macro = callee.as<const Macro*>()) return call_macro(**macro, arguments);
  const auto* builtin = callee.as<Builtin>();
  if (builtin == nullptr) {
    if (callee.is_undefined() && callee.as<Undefined>()->name) {
      work_.refuse(fmt::format("'{}' is undefined", *callee.as<Undefined>()->name));
    }
    work_.refuse(fmt::format("{} cannot be called", callee.kind()));
  }
  Value result;
  switch (*builtin) {
    case Builtin::kRaiseException:
      work_.refuse("the template says: " + printed(arguments.take(0, "message"), work_));
    case Builtin::kStrftimeNow:
      result = formatted_now(arguments.text(0, "format", work_));
      break;
    case Builtin::kRange:
      result = make_range(arguments);
      break;
    case Builtin::kNamespace: {
      if (!arguments.by_place().empty()) work_.refuse("namespace() takes keywords");
      auto space = std::make_shared<Namespace>();
      for (const auto& [key, value] : arguments.by_keyword()) set_member(*space, key, value);
      return Value(std::move(space));
    }
  }
  arguments.finish("a function", work_);
  return result;
}

}  // namespace assay::models::jinja
