// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/rules/tensor_rules.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace assay::compiler {

const std::vector<std::string>& rule_families() {
  static const std::vector<std::string> kFamilies = {"algebra", "matmul",   "softmax",   "norm",
                                                     "rotary",  "gate",     "attention", "experts",
                                                     "fusion",  "epilogue", "share",     "inplace"};
  return kFamilies;
}

std::set<std::string> disabled_families(std::string_view list) {
  std::set<std::string> disabled;
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    const std::string name(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (name.empty()) continue;
    if (std::ranges::find(rule_families(), name) == rule_families().end()) {
      fail("ASSAY_COMPILER_DISABLE: expected some of {}, got '{}'",
           fmt::join(rule_families(), ", "), name);
    }
    disabled.insert(name);
  }
  return disabled;
}

std::vector<egraph::Rule> tensor_rules(TensorEGraph& terms, const std::set<std::string>& disabled) {
  std::vector<TensorRule> all = algebra_rules(terms);
  all.push_back(product_rule(terms));
  for (const auto& rule : body_rules()) all.push_back(tensor_rule(terms, rule));
  all.push_back(grouped_rule(terms));
  for (auto& rule : attention_rules(terms)) all.push_back(std::move(rule));
  std::vector<egraph::Rule> enabled;
  for (auto& rule : all) {
    if (!disabled.contains(rule.family)) enabled.push_back(std::move(rule.rule));
  }
  return enabled;
}

}  // namespace assay::compiler
