// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "models/jinja/interpreter.h"
#include "models/jinja/operations.h"

namespace assay::models::jinja {
namespace {

constexpr std::pair<std::string_view, Builtin> kBuiltins[] = {
    {"namespace", Builtin::kNamespace},
    {"raise_exception", Builtin::kRaiseException},
    {"range", Builtin::kRange},
    {"strftime_now", Builtin::kStrftimeNow}};

}  // namespace

Value loop_attribute(const Loop& loop, std::string_view name, Work& work) {
  const auto index = static_cast<std::int64_t>(loop.turn);
  const auto size = static_cast<std::int64_t>(loop.items.size());
  if (name == "index0") return Value(index);
  if (name == "index") return Value(index + 1);
  if (name == "first") return Value::truth(index == 0);
  if (name == "last") return Value::truth(index + 1 == size);
  if (name == "length") return Value(size);
  if (name == "revindex0") return Value(size - index - 1);
  if (name == "revindex") return Value(size - index);
  if (name == "previtem") return index > 0 ? loop.items[loop.turn - 1] : Value::undefined(name);
  if (name == "nextitem") {
    return index + 1 < size ? loop.items[loop.turn + 1] : Value::undefined(name);
  }
  work.refuse(fmt::format("'loop.{}' is not supported", name));
}

Value Interpreter::look_up(std::string_view name, const Scope& scope) {
  for (const auto* at = &scope; at != nullptr; at = at->around) {
    work_.spend(16);
    const auto found = at->names.find(name);
    if (found != at->names.end()) return found->second;
  }
  const auto variable = variables_.find(name);
  if (variable != variables_.end()) return variable->second;
  for (const auto& [known, builtin] : kBuiltins) {
    if (known == name) return Value(builtin);
  }
  return Value::undefined(name);
}

Value Interpreter::evaluate(const Expression& e, Scope& scope) {
  const Deeper deeper(*this);
  work_.line = e.line;
  switch (e.kind) {
    case Expression::kConstant:
      return e.value;
    case Expression::kName:
      return look_up(e.name, scope);
    case Expression::kTuple:
    case Expression::kList:
    case Expression::kDict:
      return evaluate_container(e, scope);
    case Expression::kAttribute:
      return attribute(evaluate(*e.parts[0], scope), e.name, work_);
    case Expression::kItem: {
      const auto whole = evaluate(*e.parts[0], scope);
      return item(whole, evaluate(*e.parts[1], scope), work_);
    }
    case Expression::kSlice:
      return evaluate_slice(e, scope);
    case Expression::kCall:
      return evaluate_call(e, scope);
    case Expression::kFilter:
    case Expression::kTest:
      return evaluate_applied(e, scope);
    case Expression::kNegate:
      return arithmetic(Value::integer(0), "-", evaluate(*e.parts[0], scope), work_);
    case Expression::kNot:
    case Expression::kAnd:
    case Expression::kOr:
    case Expression::kConditional:
      return evaluate_logic(e, scope);
    case Expression::kCompare:
      return evaluate_compare(e, scope);
    case Expression::kArithmetic: {
      const auto a = evaluate(*e.parts[0], scope);
      return arithmetic(a, e.name, evaluate(*e.parts[1], scope), work_);
    }
    case Expression::kConcat:
      return evaluate_concat(e, scope);
  }
  work_.refuse("an expression of no kind");
}

Value Interpreter::evaluate_container(const Expression& e, Scope& scope) {
  Values parts;
  for (const auto& part : e.parts) parts.push_back(evaluate(*part, scope));
  if (e.kind != Expression::kDict) {
    return Value::list(std::move(parts), work_, e.kind == Expression::kTuple);
  }
  Pairs pairs;
  for (std::size_t i = 0; i < parts.size(); i += 2) {
    const auto same = std::ranges::find_if(
        pairs, [&](const auto& pair) { return are_equal(pair.first, parts[i], work_); });
    if (same != pairs.end()) {
      same->second = parts[i + 1];
    } else {
      pairs.emplace_back(parts[i], parts[i + 1]);
    }
  }
  return Value::dict(std::move(pairs), work_);
}

Value Interpreter::evaluate_logic(const Expression& e, Scope& scope) {
  auto first = evaluate(*e.parts[0], scope);
  const bool holds = is_true(first);
  if (e.kind == Expression::kNot) return Value::truth(!holds);
  if (e.kind == Expression::kAnd) return holds ? evaluate(*e.parts[1], scope) : first;
  if (e.kind == Expression::kOr) return holds ? first : evaluate(*e.parts[1], scope);
  if (holds) return evaluate(*e.parts[1], scope);
  return e.parts[2] ? evaluate(*e.parts[2], scope) : Value::undefined("else");
}

Value Interpreter::evaluate_compare(const Expression& e, Scope& scope) {
  auto left = evaluate(*e.parts[0], scope);
  for (std::size_t i = 0; i < e.operators.size(); ++i) {
    auto right = evaluate(*e.parts[i + 1], scope);
    if (!compares(left, e.operators[i], right, work_)) return Value::truth(false);
    left = std::move(right);
  }
  return Value::truth(true);
}

Value Interpreter::evaluate_concat(const Expression& e, Scope& scope) {
  std::string text;
  for (const auto& part : e.parts) text += printed(evaluate(*part, scope), work_);
  return Value::text(std::move(text), work_);
}

Value Interpreter::evaluate_slice(const Expression& e, Scope& scope) {
  Value parts[4];
  for (std::size_t i = 0; i < 4; ++i) {
    if (e.parts[i]) parts[i] = evaluate(*e.parts[i], scope);
  }
  return slice(parts[0], parts[1], parts[2], parts[3], work_);
}

Value Interpreter::evaluate_applied(const Expression& e, Scope& scope) {
  const auto value = evaluate(*e.parts[0], scope);
  auto arguments = arguments_of(e, scope);
  work_.line = e.line;
  if (e.kind == Expression::kFilter) return filtered(value, e.name, arguments, work_);
  return Value::truth(passes_test(value, e.name, arguments, work_));
}

Arguments Interpreter::arguments_of(const Expression& e, Scope& scope) {
  Values by_place;
  std::map<std::string, Value, std::less<>> by_keyword;
  const auto first_keyword = e.parts.size() - e.keywords.size();
  for (std::size_t i = 1; i < e.parts.size(); ++i) {
    auto value = evaluate(*e.parts[i], scope);
    if (i < first_keyword) {
      by_place.push_back(std::move(value));
    } else {
      by_keyword[e.keywords[i - first_keyword]] = std::move(value);
    }
  }
  return {std::move(by_place), std::move(by_keyword)};
}

Value Interpreter::evaluate_call(const Expression& e, Scope& scope) {
  const auto& callee = *e.parts[0];
  if (callee.kind != Expression::kAttribute) {
    const auto function = evaluate(callee, scope);
    return call(function, arguments_of(e, scope));
  }
  const auto whole = evaluate(*callee.parts[0], scope);
  auto arguments = arguments_of(e, scope);
  work_.line = e.line;
  if (whole.is_undefined()) attribute(whole, callee.name, work_);  // throws
  return call_method(whole, callee.name, arguments, work_);
}

}  // namespace assay::models::jinja
