// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::cases::llm {

struct PlainRule {
  std::string left, right;
};

// How many different nodes there are after each iteration of equality saturation: in each, all
// rules are matched against what is there, then applied, then equal nodes made one. Terms and rules
// as text: (op child …), ?x a variable. By sets and maps, all matches anew each time.
std::vector<std::int64_t> plain_saturation(const std::vector<PlainRule>& rules,
                                           const std::vector<std::string>& terms, int iterations);

}  // namespace assay::cases::llm
