// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rates and times as people type them after a flag.

#include <string_view>

#include "chip/kernel/time.h"

namespace assay::chip {

// "50GiB/s", "25GB/s", "1e9B/s". Throws UserError naming `what`.
Rate parse_bandwidth(std::string_view text, std::string_view what);
// "500ns", "1.5us", "20ps", "1ms", "2s"; 0 needs no unit. Throws UserError naming `what`.
Time parse_latency(std::string_view text, std::string_view what);

}  // namespace assay::chip
