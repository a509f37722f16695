// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/time_parameters.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>

#include "base/error.h"
#include "cases/own/case_file.h"

namespace assay::cli {
namespace {

constexpr int kMostDecimals = 9;

// A decimal number as an integer and how many of its digits stand behind the point.
struct Decimal {
  std::int64_t digits = 0;
  int behind = 0;
};

Decimal decimal_of(const std::string& text, const char* option) {
  Decimal number;
  std::string digits;
  const auto point = text.find('.');
  digits = text.substr(0, point);
  if (point != std::string::npos) {
    digits += text.substr(point + 1);
    number.behind = static_cast<int>(text.size() - point - 1);
  }
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number.digits);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      number.behind > kMostDecimals || std::abs(number.digits) > 1'000'000'000'000) {
    fail("{}: expected a number, got '{}'", option, text);
  }
  return number;
}

std::int64_t at_scale(const Decimal& number, int behind) {
  std::int64_t digits = number.digits;
  for (int i = number.behind; i < behind; ++i) {
    if (std::abs(digits) > INT64_MAX / 100) fail("--parameter-scan: too many digits");
    digits *= 10;
  }
  return digits;
}

std::string decimal_text(std::int64_t digits, int behind) {
  auto text = std::to_string(std::abs(digits));
  if (behind > 0) {
    const auto width = static_cast<std::size_t>(behind) + 1;
    if (text.size() < width) text.insert(0, width - text.size(), '0');
    text.insert(text.size() - static_cast<std::size_t>(behind), ".");
  }
  return (digits < 0 ? "-" : "") + text;
}

std::vector<std::string> listed_values(const std::string& name, const std::string& list) {
  std::vector<std::string> values;
  std::size_t from = 0;
  for (;;) {
    const auto comma = list.find(',', from);
    const auto value = list.substr(from, comma - from);
    if (value.empty()) fail("--parameter-list {}: an empty value in '{}'", name, list);
    if (std::ranges::find(values, value) != values.end()) {
      fail("--parameter-list {}: the same value twice: '{}'", name, value);
    }
    values.push_back(value);
    if (comma == std::string::npos) return values;
    from = comma + 1;
  }
}

// Every number from MIN to MAX, in decimal: "0.3", "0.5", "0.7".
std::vector<std::string> scanned_values(const std::string& least, const std::string& most,
                                        const std::string& step) {
  const auto from = decimal_of(least, "--parameter-scan"),
             to = decimal_of(most, "--parameter-scan");
  const auto by = decimal_of(step, "--parameter-step-size");
  const int behind = std::max({from.behind, by.behind, 0});
  const int scale = std::max(behind, to.behind);
  const auto first = at_scale(from, scale), last = at_scale(to, scale), delta = at_scale(by, scale);
  if (first > last) fail("--parameter-scan: MIN is more than MAX: {} and {}", least, most);
  if (delta <= 0) fail("--parameter-step-size must be more than 0, got '{}'", step);
  if ((last - first) / delta >= static_cast<std::int64_t>(cases::own::kMostPoints)) {
    fail("--parameter-scan: more than {} values", cases::own::kMostPoints);
  }
  std::int64_t tail = 1;  // of digits that only MAX has
  for (int i = behind; i < scale; ++i) tail *= 10;
  std::vector<std::string> values;
  for (auto at = first; at <= last; at += delta) values.push_back(decimal_text(at / tail, behind));
  return values;
}

}  // namespace

std::vector<Variable> variables_of(const TimeArguments& a) {
  std::vector<Variable> variables;
  if (!a.step.empty() && a.scan.empty()) fail("--parameter-step-size needs --parameter-scan");
  if (!a.scan.empty()) {
    variables.push_back(
        {a.scan[0], scanned_values(a.scan[1], a.scan[2], a.step.empty() ? "1" : a.step)});
  }
  for (const auto& [name, list] : a.lists) variables.push_back({name, listed_values(name, list)});
  std::set<std::string> names;
  for (const auto& variable : variables) {
    if (!cases::own::is_name(variable.name)) {
      fail("a parameter's name has up to 32 letters, digits and '_', no digit first, got '{}'",
           variable.name);
    }
    if (!names.insert(variable.name).second) fail("a parameter twice: '{}'", variable.name);
    const auto uses_it = [&](const std::string& text) {
      return text.find("{" + variable.name + "}") != std::string::npos;
    };
    bool is_used = false;
    for (const auto* texts : {&a.commands, &a.prepare, &a.conclude, &a.setup, &a.cleanup}) {
      is_used = is_used || std::ranges::any_of(*texts, uses_it);
    }
    if (!is_used) fail("no command has the parameter: '{{{}}}'", variable.name);
  }
  return variables;
}

std::vector<Values> choices_of(const std::vector<Variable>& variables) {
  std::vector<Values> choices = {{}};
  for (const auto& variable : variables) {
    std::vector<Values> longer;
    for (const auto& choice : choices) {
      for (const auto& value : variable.values) {
        longer.push_back(choice);
        longer.back()[variable.name] = value;
      }
      if (longer.size() > cases::own::kMostPoints) {
        fail("more than {} combinations of parameters", cases::own::kMostPoints);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

}  // namespace assay::cli
