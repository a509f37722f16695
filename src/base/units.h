// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Numbers for people, and the numbers people type. Stored data is SI and never rounded; these are
// for tables, messages and flags.

namespace assay {

// Four significant digits with the fitting prefix: "1.234 ms", "56.70 µs", "12.00 s".
std::string format_seconds(double seconds);
// Binary prefixes: "512 B", "1.50 KiB", "23.4 GiB".
std::string format_bytes(double bytes);
// Decimal prefixes before a unit: format_rate(8.31e10, "flop/s") is "83.1 Gflop/s".
std::string format_rate(double per_second, std::string_view unit);

// "10m", "90s", "1.5h", "250ms" or plain seconds "3". Throws UserError naming `what`.
double parse_duration_s(std::string_view text, std::string_view what);
// "2%" or "0.02", between 0 and 1. Throws UserError naming `what`.
double parse_share(const std::string& text, std::string_view what);
// "64MiB", "2GB", "1024" (bytes). Rounds down, for limits and rates: "0.1GiB". Throws UserError
// naming `what`.
std::uint64_t parse_bytes(std::string_view text, std::string_view what);
// The same for the size of something: refuses what is no whole number of bytes, "8.5B".
std::uint64_t parse_whole_bytes(std::string_view text, std::string_view what);

}  // namespace assay
