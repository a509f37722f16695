// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace assay::cases::llm {

// The expressions of the benchmark and one more, drawn for each set of inputs: sums, differences
// and products of five different leaves.
std::vector<std::string> saturation_terms(const Json& point, int set);

}  // namespace assay::cases::llm
