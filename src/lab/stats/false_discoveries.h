// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace assay::lab {

// Adjusted p-values, in the order given, each at most 1: those that are at most α have an expected
// share of false ones of at most α (Benjamini and Hochberg). For p-values that can be as small as
// the family asks; where they cannot, see family.h. Values outside [0, 1] are refused with a
// UserError.
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace assay::lab
