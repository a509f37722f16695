// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The values that a scan runs over, as people type them.

#include <string>
#include <vector>

namespace assay::transport {

// Numbers and ranges separated by commas. A range is FIRST:LAST:COUNT, evenly spaced, or
// FIRST:LAST:COUNTlog, each the same multiple of the one before: "0,1e-5:1e-2:7log". Throws
// UserError naming `what`.
std::vector<double> parse_axis(const std::string& text, const std::string& what);

// Where nothing is asked for: what an equilibrium's databases usually span.
inline constexpr const char* kDefaultNu = "1e-5:1e2:15log";
inline constexpr const char* kDefaultEr = "0,1e-5:1e-2:7log";
inline constexpr const char* kDefaultRho = "0.1:0.9:9";

}  // namespace assay::transport
