// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The numbers of a summary as people read them; the same in all views. "–" is what is not known.

#include <span>
#include <string>

#include "lab/beside/summary.h"

namespace assay::lab {

std::string median_cell(const Summary& summary);    // "1.234 ms"
std::string ratio_cell(const Summary& summary);     // "1.043 [1.031, 1.055]", "1 (baseline)"
std::string limit_cell(const Summary& summary);     // "43 %"
std::string fidelity_cell(const Summary& summary);  // "0.012", in tolerances, or "no oracle"
std::string memory_cell(const Summary& summary);    // "12.3 MiB"
// How it came out: "faster" or "slower" than the baseline where the interval says so, "ok" where it
// does not, else the status with its code, "skipped: no_device"; "(unequal work)" where that
// applies. printable().
std::string verdict_cell(const Summary& summary);

// One character for each attempt in the order they were made, at most `limit` of them (the newest,
// after a "…"): a bar for a value, × for a failure, – for one that was not made, · for one that is
// void. Bars span the values, or a tenth of their median where they differ by less, so that noise
// looks small.
std::string sparkline(std::span<const Attempt> attempts, int limit);

// A value of that metric in its unit: "1.234 ms", "12.3 MiB"; a plain number for an unknown metric.
std::string format_metric(double value, const std::string& name);

// A ratio with three digits after the point where that is what matters: "1.043", "0.00123", "125".
std::string format_ratio(double ratio);
// With its interval behind it, where there is one: "1.043 [1.031, 1.055]".
std::string format_ratio(double ratio, const std::optional<Interval>& interval);

}  // namespace assay::lab
