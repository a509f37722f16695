// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "base/error.h"

namespace assay {
namespace {

// Times are counted in 64-bit nanoseconds, which end after 292 years.
constexpr double kYearS = 365.25 * 86400, kLongestDurationS = 100 * kYearS;

struct Unit {
  std::string_view suffix;
  double factor;
};

// Four significant digits without an exponent for 0.001 … 9999.
std::string digits(double value) {
  const double size = std::abs(value);
  const int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

// The value in the largest of the units (largest first) that leaves at least 1 before the point.
std::string in_unit(double value, std::span<const Unit> units, std::string_view after) {
  if (!std::isfinite(value)) return fmt::format("{} {}{}", value, units.back().suffix, after);
  for (const auto& unit : units) {
    if (std::abs(value) >= unit.factor * 0.99995 || &unit == &units.back()) {
      return fmt::format("{} {}{}", digits(value / unit.factor), unit.suffix, after);
    }
  }
  return {};
}

double parse_with_suffix(std::string_view text, std::span<const Unit> units, std::string_view what,
                         std::string_view example) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view suffix = text.substr(static_cast<std::size_t>(rest - text.data()));
  if (error == std::errc() && std::isfinite(value) && value >= 0) {
    for (const auto& unit : units) {
      if (suffix == unit.suffix) return value * unit.factor;
    }
  }
  fail("{}: expected something like {}, got '{}'", what, example, text);
}

}  // namespace

std::string format_seconds(double seconds) {
  static constexpr std::array<Unit, 4> kUnits = {
      {{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}}};
  return in_unit(seconds, kUnits, "");
}

std::string format_bytes(double bytes) {
  static constexpr std::array<Unit, 6> kUnits = {{{"PiB", 0x1p50},
                                                  {"TiB", 0x1p40},
                                                  {"GiB", 0x1p30},
                                                  {"MiB", 0x1p20},
                                                  {"KiB", 0x1p10},
                                                  {"B", 1}}};
  if (std::abs(bytes) < 1024) return fmt::format("{:.0f} B", bytes);
  return in_unit(bytes, kUnits, "");
}

std::string format_rate(double per_second, std::string_view unit) {
  static constexpr std::array<Unit, 5> kUnits = {
      {{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}}};
  return in_unit(per_second, kUnits, unit);
}

double parse_duration_s(std::string_view text, std::string_view what) {
  static constexpr std::array<Unit, 6> kUnits = {
      {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"h", 3600}}};
  const double seconds = parse_with_suffix(text, kUnits, what, "90s, 10m or 1.5h");
  if (seconds > kLongestDurationS) {
    fail("{}: longer than {:.0f} years: '{}'", what, kLongestDurationS / kYearS, text);
  }
  return seconds;
}

namespace {

double parse_byte_count(std::string_view text, std::string_view what) {
  static constexpr std::array<Unit, 12> kUnits = {{{"", 1},
                                                   {"B", 1},
                                                   {"KiB", 0x1p10},
                                                   {"MiB", 0x1p20},
                                                   {"GiB", 0x1p30},
                                                   {"TiB", 0x1p40},
                                                   {"kB", 1e3},
                                                   {"KB", 1e3},
                                                   {"MB", 1e6},
                                                   {"GB", 1e9},
                                                   {"TB", 1e12},
                                                   {"K", 0x1p10}}};
  const double bytes = parse_with_suffix(text, kUnits, what, "64MiB or 2GB");
  if (bytes >= 0x1p63) fail("{}: too many bytes: '{}'", what, text);
  return bytes;
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text, std::string_view what) {
  return static_cast<std::uint64_t>(parse_byte_count(text, what));
}

std::uint64_t parse_whole_bytes(std::string_view text, std::string_view what) {
  const double bytes = parse_byte_count(text, what), whole = std::round(bytes);
  // 1.1GB is whole, though its double times 1e9 may be a rounding away.
  if (std::abs(bytes - whole) > 1e-15 * bytes) {
    fail("{}: expected a whole number of bytes, got '{}'", what, text);
  }
  return static_cast<std::uint64_t>(whole);
}

double parse_share(const std::string& text, std::string_view what) {
  try {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    const auto unit = text.substr(used);
    if (value >= 0 && value <= 100 && unit == "%") return value / 100;
    if (value >= 0 && value <= 1 && unit.empty()) return value;
  } catch (const std::exception&) {
  }
  fail("{}: expected a share such as 2% or 0.02, got '{}'", what, text);
}

}  // namespace assay
