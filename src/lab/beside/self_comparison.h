// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From rows to what lab/stats says of noise: comparisons of a provider with itself, and where the
// scatter comes from.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/record/row.h"
#include "lab/stats/noise_budget.h"

namespace assay::lab {

// One provider under two names (`p` and `p@b`) at one point of one run.
struct SelfComparison {
  std::string case_name, provider;  // without the label
  std::vector<double> d;            // ln(second name) − ln(first), rounds in which both were ok
  std::optional<Modes> modes;       // when the attempts' values are bimodal
};
// Those with at least `least` common rounds, in the order of cases, providers, runs and points.
// Names are taken in lexical order, so that the plain one comes first.
std::vector<SelfComparison> self_comparisons(std::span<const Row> rows, int least = 6);

// The noise budget of one provider. Runs are what lies apart in time: the runs of the rows and,
// where `by_point` is true (points that differ by their seed alone), the points too.
struct NoiseLine {
  std::string case_name, point, provider, platform;  // point is empty with by_point
  NoiseBudget budget;
  int bimodal = 0, groups = 0;  // how many of its runs were bimodal
};
std::vector<NoiseLine> noise_lines(std::span<const Row> rows, bool by_point = false);

}  // namespace assay::lab
