// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/terminal/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "lab/record/metrics.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

constexpr const char* kUnknown = "–";

}  // namespace

std::string format_metric(double value, const std::string& name) {
  const Metric* metric = find_metric(name);
  if (metric == nullptr) return fmt::format("{:.4g}", value);
  switch (metric->kind) {
    case MetricKind::kTime:
      return format_seconds(value);
    case MetricKind::kBytes:
      return format_bytes(value);
    case MetricKind::kRate:
      return format_rate(value, metric->unit == "1/s" ? "/s" : metric->unit);
    case MetricKind::kFraction:
      return fmt::format("{:.1f} %", 100 * value);
    case MetricKind::kCount:
      return fmt::format("{:.4g}", value);
    case MetricKind::kEnergy:
      return fmt::format("{:.4g} {}", value, metric->unit);
  }
  return {};
}

std::string format_ratio(double ratio) {
  if (!std::isfinite(ratio)) return fmt::format("{}", ratio);
  if (ratio >= 99.995) return fmt::format("{:.0f}", ratio);
  if (ratio >= 9.9995) return fmt::format("{:.2f}", ratio);
  if (ratio >= 0.09995) return fmt::format("{:.3f}", ratio);
  return fmt::format("{:.3g}", ratio);
}

std::string format_ratio(double ratio, const std::optional<Interval>& interval) {
  if (!interval) return format_ratio(ratio);
  return fmt::format("{} [{}, {}]", format_ratio(ratio), format_ratio(interval->low),
                     format_ratio(interval->high));
}

std::string median_cell(const Summary& s) {
  return s.median ? format_metric(*s.median, s.metric) : kUnknown;
}

std::string ratio_cell(const Summary& s) {
  if (!s.ratio) return kUnknown;
  if (s.is_baseline) return "1 (baseline)";
  return format_ratio(s.ratio->ratio, s.ratio->interval);
}

std::string limit_cell(const Summary& s) {
  if (!s.fraction_of_limit) return kUnknown;
  return fmt::format("{:.0f} %", 100 * *s.fraction_of_limit);
}

std::string fidelity_cell(const Summary& s) {
  if (s.fidelity_error) return fmt::format("{:.2g}", *s.fidelity_error);
  return s.unjudged ? "no oracle" : kUnknown;
}

std::string memory_cell(const Summary& s) {
  const auto bytes = s.peak_memory();
  return bytes ? format_bytes(*bytes) : kUnknown;
}

std::string verdict_cell(const Summary& s) {
  // Less work in less time is no merit: whoever reads the verdict must see it there.
  const std::string work = s.unequal_work.empty() ? "" : " (unequal work)";
  if (s.status != Status::kOk) {
    const auto code = s.failure ? s.failure->code : std::string();
    const auto status = std::string(name_of(s.status));
    const auto text = code.empty() || code == status ? status : status + ": " + code;
    return fit(printable(text), 40) + (s.as_expected ? " (expected)" : "") + work;
  }
  // A time says little where nobody knows whether the answer is right.
  const std::string fine = (s.unjudged ? "no oracle" : "ok") + work;
  const std::string doubt = (s.unjudged ? " (no oracle)" : "") + work;
  if (s.is_baseline || !s.ratio) return fine;
  if (s.shown == Shown::kTooFew || s.shown == Shown::kNothing) return fine;
  const bool slower = (s.ratio->ratio < 1) == more_is_better(s.metric);
  return std::string(s.shown == Shown::kPerhaps ? "perhaps " : "") +
         (slower ? "slower" : "faster") + doubt;
}

std::string sparkline(std::span<const Attempt> attempts, int limit) {
  static constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string line;
  if (static_cast<int>(attempts.size()) > limit) {
    attempts = attempts.last(static_cast<std::size_t>(limit - 1));
    line = "…";
  }
  std::vector<double> values;
  for (const auto& a : attempts) {
    if (is_measured(a.status) && !std::isnan(a.value)) values.push_back(a.value);
  }
  double middle = 0, span = 1;
  if (!values.empty()) {
    const auto [least, most] = std::ranges::minmax(values);
    span = std::max(most - least, 0.1 * median(values));
    middle = (least + most) / 2;
  }
  for (const auto& a : attempts) {
    if (is_void(a.status)) {
      line += "·";
    } else if (a.status == Status::kSkipped || a.status == Status::kEnvMissing) {
      line += "–";
    } else if (!is_measured(a.status) || std::isnan(a.value)) {
      line += "×";
    } else {
      const auto step = static_cast<int>(4 + 8 * (a.value - middle) / span);
      line += kBars[static_cast<std::size_t>(std::clamp(step, 0, 7))];
    }
  }
  return line;
}

}  // namespace assay::lab
