// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known of one row: the values by which two sides are compared.

#include <variant>
#include <vector>

namespace assay::lab {

// Rounds in which both sides were measured: d_r = ln(current) − ln(baseline), above 0 is worse. For
// a metric where more is better the caller negates d.
struct PairedEvidence {
  std::vector<double> d;
};
// One value per attempt, from runs made apart; larger is worse, so that where more is better the
// caller passes reciprocals.
struct UnpairedEvidence {
  std::vector<double> current, baseline;
};
using Evidence = std::variant<PairedEvidence, UnpairedEvidence>;

}  // namespace assay::lab
