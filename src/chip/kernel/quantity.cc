// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/kernel/quantity.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "base/units.h"

namespace assay::chip {

Rate parse_bandwidth(std::string_view text, std::string_view what) {
  constexpr std::string_view kPerSecond = "/s";
  if (!text.ends_with(kPerSecond))
    fail("{}: expected something like 50GiB/s, got '{}'", what, text);
  const auto bytes = parse_bytes(text.substr(0, text.size() - kPerSecond.size()), what);
  if (bytes == 0) fail("{}: must be positive, got '{}'", what, text);
  return Rate(static_cast<std::int64_t>(bytes));
}

Time parse_latency(std::string_view text, std::string_view what) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  constexpr double kMax = 1e12;  // a second, the limit of a topology file as well
  if (error == std::errc() && std::isfinite(value) && value >= 0) {
    if (unit.empty() && value == 0) return 0;
    for (const auto& [suffix, picoseconds] : kUnits) {
      if (unit == suffix && value * picoseconds <= kMax) return std::llround(value * picoseconds);
    }
  }
  fail("{}: expected a time up to 1s such as 500ns or 1.5us, got '{}'", what, text);
}

}  // namespace assay::chip
