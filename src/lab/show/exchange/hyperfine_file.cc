// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/exchange/hyperfine_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "lab/show/terminal/cells.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// With n − 1; nothing of a single value.
std::optional<double> deviation_of(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

std::string number_text(double value) { return canonical_json(Json(value)); }

template <typename T>
std::string list_text(const std::vector<T>& values) {
  std::string text;
  for (const auto& value : values) {
    text += fmt::format("{}\n        {}", text.empty() ? "" : ",", canonical_json(Json(value)));
  }
  return "[" + text + "\n      ]";
}

// With the order of its keys, which people compare files by.
std::string result_text(const CommandRuns& c) {
  const auto deviation = deviation_of(c.seconds);
  const auto [least, most] = std::ranges::minmax(c.seconds);
  std::string text;
  const auto add = [&](const char* key, const std::string& value) {
    text += fmt::format("{}\n      \"{}\": {}", text.empty() ? "" : ",", key, value);
  };
  add("command", canonical_json(Json(c.command)));
  add("mean", number_text(mean_of(c.seconds)));
  add("stddev", deviation ? number_text(*deviation) : "null");
  add("median", number_text(median(c.seconds)));
  add("user", number_text(mean_of(c.user_s)));
  add("system", number_text(mean_of(c.system_s)));
  add("min", number_text(least));
  add("max", number_text(most));
  add("times", list_text(c.seconds));
  add("exit_codes", list_text(c.exit_codes));
  if (!c.parameters.empty()) {
    std::string parameters;
    for (const auto& [name, value] : c.parameters) {
      parameters += fmt::format("{}\n        {}: {}", parameters.empty() ? "" : ",",
                                canonical_json(Json(name)), canonical_json(Json(value)));
    }
    add("parameters", "{" + parameters + "\n      }");
  }
  return "    {" + text + "\n    }";
}

std::string cell_text(const std::string& command) {
  std::string text;
  for (const char c : printable(command)) text += c == '|' ? std::string("\\|") : std::string(1, c);
  return text;
}

}  // namespace

std::string hyperfine_json(std::span<const CommandRuns> commands) {
  std::string results;
  for (const auto& c : commands) results += (results.empty() ? "\n" : ",\n") + result_text(c);
  return "{\n  \"results\": [" + results + "\n  ]\n}\n";
}

std::string hyperfine_markdown(std::span<const CommandRuns> commands) {
  if (commands.empty()) return {};
  const bool in_seconds = mean_of(commands.front().seconds) >= 1;
  const char* unit = in_seconds ? "s" : "ms";
  const double per = in_seconds ? 1 : 1e3;
  const int digits = in_seconds ? 3 : 1;
  std::string text = fmt::format(
      "| Command | Mean [{0}] | Min [{0}] | Max [{0}] | Relative | Ratio [95 %] |\n"
      "|:---|---:|---:|---:|---:|---:|\n",
      unit);
  const auto* fastest = &commands.front();
  for (const auto& c : commands) {
    if (mean_of(c.seconds) < mean_of(fastest->seconds)) fastest = &c;
  }
  const double least = mean_of(fastest->seconds);
  const double least_deviation = deviation_of(fastest->seconds).value_or(0);
  for (const auto& c : commands) {
    const double mean = mean_of(c.seconds);
    const double deviation = deviation_of(c.seconds).value_or(0);
    const auto [low, high] = std::ranges::minmax(c.seconds);
    const double relative = mean / least;
    const double spread =
        relative * std::hypot(deviation / mean, least > 0 ? least_deviation / least : 0);
    text += fmt::format("| `{}` | {:.{}f} ± {:.{}f} | {:.{}f} | {:.{}f} | {} | {} |\n",
                        cell_text(c.command), per * mean, digits, per * deviation, digits,
                        per * low, digits, per * high, digits,
                        &c == fastest ? "1.00" : fmt::format("{:.2f} ± {:.2f}", relative, spread),
                        c.ratio ? format_ratio(c.ratio->ratio, c.ratio->interval) : "1 (baseline)");
  }
  return text;
}

}  // namespace assay::lab
