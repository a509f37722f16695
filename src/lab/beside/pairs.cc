// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/pairs.h"

#include <algorithm>
#include <cmath>

#include "lab/beside/place.h"

namespace assay::lab {

double usable_value(const Row& row, const std::string& metric) {
  const double value = is_measured(row.status) ? row.metric_or_nan(metric) : NAN;
  return std::isfinite(value) && value > 0 ? value : NAN;
}

double ok_value(const Row& row, const std::string& metric) {
  return row.status == Status::kOk ? usable_value(row, metric) : NAN;
}

RoundId round_of(const Row& row) { return {row.run_id, row.round, device_of(row)}; }

bool made_in_turn(const Row& row) { return row.provenance.interleaved.value_or(true); }

ByRound values_by_round(std::span<const Row* const> rows, const std::string& metric) {
  ByRound values;
  for (const Row* row : rows) {
    const double value = ok_value(*row, metric);
    if (!made_in_turn(*row) || std::isnan(value)) continue;
    // The last try counts, though an earlier one was made on another device.
    for (auto it = values.lower_bound({row->run_id, row->round});
         it != values.end() && it->first.run_id == row->run_id && it->first.round == row->round;) {
      it = values.erase(it);
    }
    values[round_of(*row)] = value;
  }
  return values;
}

std::vector<double> Pairs::log_ratios() const {
  std::vector<double> d;
  for (std::size_t i = 0; i < a.size(); ++i) d.push_back(std::log(a[i]) - std::log(b[i]));
  return d;
}

std::optional<PairedRatio> Pairs::ratio() const {
  if (a.empty()) return std::nullopt;
  return paired_ratio(a, b);
}

Pairs pair_rounds(const ByRound& a, const ByRound& b) {
  Pairs pairs;
  for (const auto& [round, value] : a) {
    const auto other = b.find(round);
    if (other == b.end()) continue;
    pairs.a.push_back(value);
    pairs.b.push_back(other->second);
  }
  return pairs;
}

bool was_wrong(std::span<const Row* const> rows) {
  return std::ranges::any_of(rows,
                             [](const Row* row) { return row->status == Status::kWrongResult; });
}

Pairs pairs_beside(std::span<const Row* const> rows, std::span<const Row* const> baseline,
                   const std::string& metric) {
  if (was_wrong(rows) || was_wrong(baseline)) return {};
  return pair_rounds(values_by_round(rows, metric), values_by_round(baseline, metric));
}

}  // namespace assay::lab
