// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "cli/arguments/arguments.h"
#include "lab/decide/history.h"

namespace assay::cli {

// Measures the two commits of a change of the history beside each other, prints what came out, and
// returns the exit status: 1 when a slowdown is confirmed, 3 when the rounds could not have shown
// it, else 0; 130 when interrupted.
int confirm_change(const HistoryArguments& arguments, std::span<const lab::HistorySeries> series);

}  // namespace assay::cli
