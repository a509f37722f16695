// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/show/figures/figure.h"

namespace assay::lab {

// A formula that does not depend on what separates the series ("bound, ring", "bound, direct") is
// one line under the name that is left of theirs ("bound"), not one for each. Measured and
// simulated series stay apart even where they are equal: that they are is worth seeing.
void join_equal_formulas(Figure& figure);

}  // namespace assay::lab
