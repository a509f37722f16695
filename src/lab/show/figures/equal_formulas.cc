// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/equal_formulas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::lab {
namespace {

bool is_same_formula(const FigureSeries& a, const FigureSeries& b) {
  return a.origin == "closed form" && b.origin == a.origin &&
         std::ranges::equal(a.points, b.points, [](const FigurePoint& p, const FigurePoint& q) {
           return p.x == q.x && p.y == q.y;
         });
}

// The leading parts ("a, b, …") that two labels share.
std::string common_label(const std::string& a, const std::string& b) {
  std::size_t shared = 0;
  for (std::size_t i = 0; i <= std::min(a.size(), b.size()); ++i) {
    const auto ends = [i](const std::string& s) { return i == s.size() || s.substr(i, 2) == ", "; };
    if (ends(a) && ends(b)) shared = i;
    if (i < std::min(a.size(), b.size()) && a[i] != b[i]) break;
  }
  return a.substr(0, shared);
}

// The name for series that are one line: what their labels share, where that tells it from all
// `others`; else that and what is left of each.
std::string joint_label(const std::vector<std::string>& labels,
                        const std::vector<std::string>& others) {
  if (labels.size() == 1) return labels.front();
  std::string common = labels.front();
  for (const auto& label : labels) common = common_label(common, label);
  if (common.empty()) return fmt::format("{}", fmt::join(labels, " = "));
  const bool is_taken = std::ranges::any_of(
      others, [&](const std::string& other) { return common_label(common, other) == common; });
  if (!is_taken) return common;
  std::vector<std::string> rest;
  for (const auto& label : labels) rest.push_back(label.substr(common.size() + 2));
  return fmt::format("{}: {}", common, fmt::join(rest, ", "));
}

}  // namespace

void join_equal_formulas(Figure& figure) {
  std::vector<FigureSeries> joined;
  std::vector<std::vector<std::string>> labels;  // of what became each
  for (auto& series : figure.series) {
    const auto twin = std::ranges::find_if(
        joined, [&](const FigureSeries& other) { return is_same_formula(other, series); });
    if (twin != joined.end()) {
      labels[static_cast<std::size_t>(twin - joined.begin())].push_back(series.label);
      continue;
    }
    labels.push_back({series.label});
    joined.push_back(std::move(series));
  }
  for (std::size_t i = 0; i < joined.size(); ++i) {
    std::vector<std::string> others;
    for (std::size_t j = 0; j < labels.size(); ++j) {
      if (j != i) others.insert(others.end(), labels[j].begin(), labels[j].end());
    }
    joined[i].label = joint_label(labels[i], others);
  }
  figure.series = std::move(joined);
}

}  // namespace assay::lab
