// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace assay::lab {

// The smallest x from which on all ratios (one for each x, ascending) are below one: from where
// something that costs a start is worth it. Nothing where the last ratio is not below one.
std::optional<double> crossover(std::span<const double> x, std::span<const double> ratio);

}  // namespace assay::lab
