// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lab/beside/self_comparison.h"

namespace assay::lab {

// Noise budgets for people, in per cent; "–" where it cannot be told.
std::string noise_table(std::span<const NoiseLine> lines);

}  // namespace assay::lab
