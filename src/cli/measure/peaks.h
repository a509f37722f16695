// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/record/ceilings.h"

namespace assay::cli {

// Measures the ceilings of one of these cores and of all of them, holding the runner's locks on
// them meanwhile; tells on the error stream what it does. Some 20 s.
lab::Ceilings measure_ceilings(const std::vector<int>& cpus);

// A table, one column for each group of cores.
std::string format_ceilings(const lab::Ceilings& ceilings);

}  // namespace assay::cli
