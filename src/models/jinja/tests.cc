// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/jinja/methods.h"
#include "models/jinja/operations.h"

namespace assay::models::jinja {
namespace {

using Test = bool (*)(const Value&, Arguments&, Work&);
struct NamedTest {
  std::string_view name;
  Test test;
};

bool has_elements(const Value& value) {
  return value.text() || value.list() || value.dict() || value.is_undefined();
}

// The remainder of an integer, for odd, even and divisibleby.
std::int64_t remainder_of(const Value& value, const Value& by, Work& work) {
  const auto rest = arithmetic(value, "%", by, work);
  return rest.as_integer().value_or(rest.number() == 0 ? 0 : 1);
}

// Signs of comparisons, and their names.
constexpr std::pair<std::string_view, std::string_view> kComparisons[] = {
    {"eq", "=="}, {"equalto", "=="}, {"ne", "!="}, {"lt", "<"},          {"lessthan", "<"},
    {"le", "<="}, {"gt", ">"},       {"ge", ">="}, {"greaterthan", ">"}, {"in", "in"}};

constexpr std::array kTests = {
    NamedTest{"boolean", [](const Value& v, Arguments&, Work&) { return v.as<bool>() != nullptr; }},
    NamedTest{"defined", [](const Value& v, Arguments&, Work&) { return !v.is_undefined(); }},
    NamedTest{"divisibleby",
              [](const Value& v, Arguments& a, Work& work) {
                return remainder_of(v, a.take(0, "num"), work) == 0;
              }},
    NamedTest{"even", [](const Value& v, Arguments&,
                         Work& work) { return remainder_of(v, Value::integer(2), work) == 0; }},
    NamedTest{"false",
              [](const Value& v, Arguments&, Work&) { return v.as<bool>() && !*v.as<bool>(); }},
    NamedTest{"float", [](const Value& v, Arguments&, Work&) { return v.as<double>() != nullptr; }},
    NamedTest{"integer",
              [](const Value& v, Arguments&, Work&) { return v.as<std::int64_t>() != nullptr; }},
    NamedTest{"iterable", [](const Value& v, Arguments&, Work&) { return has_elements(v); }},
    NamedTest{"mapping", [](const Value& v, Arguments&, Work&) { return v.dict() != nullptr; }},
    NamedTest{"none", [](const Value& v, Arguments&, Work&) { return v.is_none(); }},
    NamedTest{"number", [](const Value& v, Arguments&, Work&) { return v.is_number(); }},
    NamedTest{"odd", [](const Value& v, Arguments&,
                        Work& work) { return remainder_of(v, Value::integer(2), work) == 1; }},
    NamedTest{"sequence", [](const Value& v, Arguments&, Work&) { return has_elements(v); }},
    NamedTest{"string", [](const Value& v, Arguments&, Work&) { return v.text() != nullptr; }},
    NamedTest{"true",
              [](const Value& v, Arguments&, Work&) { return v.as<bool>() && *v.as<bool>(); }},
    NamedTest{"undefined", [](const Value& v, Arguments&, Work&) { return v.is_undefined(); }},
};

}  // namespace

bool passes_test(const Value& value, std::string_view name, Arguments& arguments, Work& work) {
  bool passes = false;
  const auto test = std::ranges::find(kTests, name, &NamedTest::name);
  if (test != kTests.end()) {
    passes = test->test(value, arguments, work);
  } else {
    const auto* comparison = std::ranges::find_if(
        kComparisons, [&](const auto& one) { return one.first == name || one.second == name; });
    if (comparison == std::end(kComparisons)) {
      work.refuse(fmt::format("the test '{}' is not supported", name));
    }
    passes = compares(value, comparison->second, arguments.take(0, "other"), work);
  }
  arguments.finish(fmt::format("test '{}'", name), work);
  return passes;
}

}  // namespace assay::models::jinja
