// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/saturation_inputs.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "egraph/mathematics.h"
#include "lab/record/case.h"

namespace assay::cases::llm {

std::vector<std::string> saturation_terms(const Json& point, int set) {
  std::array leaves = {"x", "y", "z", "2", "3"};
  constexpr std::array kOperators = {"+", "*", "-"};
  const auto draws = lab::input_stream(lab::point_int(point, "seed"), "terms", set);
  // Each once: what cancels makes a zero, and with it far more than the benchmark is about.
  for (std::size_t i = leaves.size(); i-- > 1;)
    std::swap(leaves[i], leaves[draws[3 * i] % (i + 1)]);
  std::string term = leaves[0];
  for (std::size_t i = 1; i < leaves.size(); ++i) {
    const auto* op = kOperators[draws[3 * i + 1] % kOperators.size()];
    term = draws[3 * i + 2] % 2 == 0 ? fmt::format("({} {} {})", op, term, leaves[i])
                                     : fmt::format("({} {} {})", op, leaves[i], term);
  }
  auto terms = egraph::mathematics_text().expressions;
  terms.push_back(term);
  return terms;
}

}  // namespace assay::cases::llm
