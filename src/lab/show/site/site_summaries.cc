// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/site_parts.h"

#include <cmath>
#include <map>
#include <optional>

#include "lab/beside/caveats.h"
#include "lab/record/fields.h"
#include "lab/show/terminal/cells.h"
#include "lab/stats/median_interval.h"
#include "lab/stats/noise_budget.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

// The word that verdicts are counted under.
std::string verdict_class(const Summary& s, const std::string& verdict) {
  if (s.status != Status::kOk) {
    return s.as_expected ? "expected" : std::string(name_of(s.status));
  }
  if (s.is_baseline) return "baseline";
  if (verdict.starts_with("faster")) return "faster";
  if (verdict.starts_with("slower")) return "slower";
  if (s.shown == Shown::kPerhaps) return "perhaps";
  return s.ratio && s.ratio->interval ? "no difference" : "no interval";
}

// The largest value of a metric over the attempts that count.
Json largest(const std::vector<int>& attempts, const std::vector<Row>& rows, const char* metric) {
  double most = NAN;
  for (const int index : attempts) {
    const Row& row = rows[static_cast<std::size_t>(index)];
    if (!is_void(row.status)) most = std::fmax(most, row.metric_or_nan(metric));
  }
  return std::isfinite(most) ? Json(most) : Json();
}

Json middle(const std::vector<int>& attempts, const std::vector<Row>& rows, const char* metric) {
  std::vector<double> values;
  for (const int index : attempts) {
    const Row& row = rows[static_cast<std::size_t>(index)];
    const double value = row.metric_or_nan(metric);
    if (row.status == Status::kOk && std::isfinite(value)) values.push_back(value);
  }
  return values.empty() ? Json() : Json(median(values));
}

// Medians of what else was measured, each with its interval where there is one.
Json followed(const Summary& s, const std::vector<int>& attempts, const std::vector<Row>& rows) {
  std::map<std::string, std::vector<double>> values;
  for (const int index : attempts) {
    const Row& row = rows[static_cast<std::size_t>(index)];
    if (row.status != Status::kOk) continue;
    for (const auto& [name, value] : row.metrics) {
      if (name != s.metric && is_followed(name) && std::isfinite(value)) {
        values[name].push_back(value);
      }
    }
  }
  Json all = Json::object();
  for (const auto& [name, list] : values) {
    all[name] = Json::array({median(list)});
    if (const auto interval = median_interval(list)) {
      all[name].push_back(interval->low);
      all[name].push_back(interval->high);
    }
  }
  return all;
}

}  // namespace

bool is_followed(std::string_view metric) {
  return metric.starts_with("stage_") || metric.starts_with("search_") ||
         metric == "compile_time" || metric == "token_time";
}

Json site_summary(const IndexedSummary& indexed, const std::vector<Row>& rows) {
  const Summary& s = indexed.summary;
  // What ended well or was at least measured, as the median uses it.
  auto values = s.values(Status::kOk);
  if (values.empty()) values = s.values(Status::kWrongResult);
  const auto verdict = verdict_cell(s);
  Json json = {
      {"case", indexed.key.case_index},
      {"point", indexed.key.point},
      {"run", indexed.run},
      {"machine", indexed.key.machine},
      {"provider", s.provider},
      {"platform", s.platform},
      {"cores", s.cores},
      {"isolation", s.isolation},
      {"latest", indexed.latest},
      {"baseline", s.is_baseline},
      {"status", name_of(s.status)},
      {"verdict", verdict},
      {"class", verdict_class(s, verdict)},
      {"rounds", s.rounds},
      {"median", value_to_json(s.median)},
      {"limit", value_to_json(s.fraction_of_limit)},
      {"error", value_to_json(s.fidelity_error)},
      {"memory", value_to_json(s.peak_memory())},
      {"rows", indexed.rows},
      {"spark", sparkline(s.attempts, 12)},
  };
  if (!values.empty()) {
    if (const auto interval = median_interval(values)) {
      json["low"] = interval->low;
      json["high"] = interval->high;
    }
    // A box for the eye: quartiles and extremes of the attempts.
    Json box = Json::array();
    for (const double q : {0.0, 0.25, 0.5, 0.75, 1.0}) box.push_back(quantile(values, q));
    json["box"] = std::move(box);
  }
  if (indexed.latest && values.size() >= 8) {
    if (const auto modes = two_modes(values)) {
      json["modes"] = {{"low", modes->low}, {"high", modes->high}, {"p", modes->p}};
    }
  }
  if (s.ratio) {
    json["ratio"] = s.ratio->ratio;
    json["ratio_rounds"] = s.ratio->rounds;
    if (s.ratio->interval) {
      json["ratio_low"] = s.ratio->interval->low;
      json["ratio_high"] = s.ratio->interval->high;
    }
  }
  if (indexed.self) json["self"] = true;
  if (!s.unequal_work.empty()) json["unequal"] = s.unequal_work;
  if (!s.caveats.empty()) json["caveats"] = s.caveats;
  if (s.failure) json["failure"] = s.failure->message;
  for (const auto& [name, metric] :
       {std::pair{"rss_start", "peak_rss_start"}, std::pair{"rss_cold", "peak_rss_cold"},
        std::pair{"rss_steady", "peak_rss_steady"}, std::pair{"device", "peak_device_memory"}}) {
    if (Json value = largest(indexed.rows, rows, metric); !value.is_null()) json[name] = value;
  }
  for (const auto& [name, metric] :
       {std::pair{"flop_rate", "flop_rate"}, std::pair{"cold", "cold_time"}}) {
    if (Json value = middle(indexed.rows, rows, metric); !value.is_null()) json[name] = value;
  }
  if (Json more = followed(s, indexed.rows, rows); !more.empty()) json["more"] = std::move(more);
  const Row& newest = rows[static_cast<std::size_t>(indexed.rows.back())];
  const auto flops = newest.work_of("flops"), bytes = newest.work_of("bytes");
  // What a model computed says nothing about this machine: no place under its roof.
  const bool measured = newest.provenance.origin.value_or("measured") == "measured";
  if (measured && flops && bytes && *flops > 0 && *bytes > 0) json["intensity"] = *flops / *bytes;
  return json;
}

}  // namespace assay::lab
