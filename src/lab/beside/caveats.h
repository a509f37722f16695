// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a reader must know before trusting a number, in words.

#include <span>
#include <string>
#include <vector>

#include "lab/beside/summary.h"
#include "lab/record/row.h"

namespace assay::lab {

// Of the time of an attempt: more excludes it, unless the user says otherwise.
inline constexpr double kHighSteal = 0.02;
inline constexpr double kHighForeign = 0.02;  // likewise: to other programs

// Of one summary: why there is no ratio or interval, what was left out, unequal work. Sentences
// without a final stop; text from rows is printable().
std::vector<std::string> summary_caveats(const Summary& summary);

// Of the rows as a whole: no calibration, or its floor, uncommitted changes, a busy machine.
std::vector<std::string> environment_caveats(std::span<const Row> rows);

// An outcome in words: "wrong result", "environment missing", …
std::string status_words(Status status);

}  // namespace assay::lab
