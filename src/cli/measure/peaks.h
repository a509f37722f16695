// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/record/ceilings.h"
#include "lab/run/environment.h"

namespace assay::cli {

// Measures the ceilings of one of these cores and of all of them, holding the runner's locks on
// them meanwhile; tells on the error stream what it does. Some 20 s.
lab::Ceilings measure_ceilings(const std::vector<int>& cpus);

// The ceilings of this machine's GPU, by its worker, holding the lock on it. Nothing where there is
// none, or where `why_not` then says what is wrong.
std::optional<lab::Ceilings::Device> measure_device(const lab::Programs& programs,
                                                    std::string& why_not);

// A table, one column for each group of cores; a list for each device.
std::string format_ceilings(const lab::Ceilings& ceilings);

}  // namespace assay::cli
