// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which exit status follows from rows: the one place that knows (base/exit_status.h has the
// numbers, GateResult::exit_status() is here too).

#include <span>
#include <string>

#include "lab/beside/stopping.h"
#include "lab/decide/compare.h"

namespace assay::lab {

// Rows as they were measured, and what they lack.
struct Coverage {
  int measured = 0;      // providers at points that are ok, or are refused as they should be
  int wrong = 0;         // unexpected ones
  int left_out = 0;      // on purpose: by --skip, or because the provider has nothing to do there
  int not_measured = 0;  // missing, skipped for any other reason, crashed, timed out, …
  int not_reached = 0;   // planned, and without a row: the budget was spent
  int open = 0;          // points whose ratios are not known as well as --precision asked

  // 4 where a result is wrong; 3 where nothing was measured, and when strict where anything was
  // not measured, not reached or is open; else 0.
  int exit_status(bool strict) const;
  // What a status other than 0 and 4 is about, or would be if strict: "3 of 8 not measured: 2
  // timeout, 1 env_missing"; empty where there is nothing to say.
  std::string lacks;
};
Coverage coverage_of(std::span<const Summary> summaries, std::span<const PointStop> stops = {},
                     int not_reached = 0);

// 3 where no row could be compared, and when strict where any row could not, or has too few
// attempts to say; else 0.
int exit_status_of(std::span<const Comparison> comparisons, bool strict);

}  // namespace assay::lab
