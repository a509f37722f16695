// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/axis.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace assay::transport {
namespace {

constexpr int kMostValues = 100'000;

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <typename T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A number, or FIRST:LAST:COUNT[log].
void add_item(std::string_view item, const std::string& what, std::vector<double>& values) {
  const auto number = [&](std::string_view text) {
    const auto value = number_of<double>(text);
    if (!value || !std::isfinite(*value)) {
      fail("{} expects numbers or FIRST:LAST:COUNT[log], got '{}'", what, item);
    }
    return *value;
  };
  const auto parts = split_at(item, ':');
  if (parts.size() == 1) {
    values.push_back(number(item));
    return;
  }
  if (parts.size() != 3) fail("{} expects FIRST:LAST:COUNT[log], got '{}'", what, item);
  const double first = number(parts[0]), last = number(parts[1]);
  auto count_text = parts[2];
  const bool log = count_text.ends_with("log");
  if (log) count_text.remove_suffix(3);
  const auto count = number_of<int>(count_text);
  if (!count || *count < 2 || *count > kMostValues) {
    fail("{}: a range has from 2 to {} values, got '{}'", what, kMostValues, item);
  }
  if (!(first < last)) fail("{}: a range goes upward, got '{}'", what, item);
  if (log && !(first > 0)) fail("{}: a logarithmic range begins above 0, got '{}'", what, item);
  for (int i = 0; i < *count; ++i) {
    // Both ends as they were typed.
    const double t = static_cast<double>(i) / (*count - 1);
    values.push_back(i == 0            ? first
                     : i == *count - 1 ? last
                     : log             ? first * std::pow(last / first, t)
                                       : first + t * (last - first));
  }
}

}  // namespace

std::vector<double> parse_axis(const std::string& text, const std::string& what) {
  std::vector<double> values;
  for (const auto item : split_at(text, ',')) add_item(item, what, values);
  return values;
}

}  // namespace assay::transport
