// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "lab/beside/caveats.h"
#include "lab/decide/history.h"
#include "lab/record/fields.h"
#include "lab/record/point.h"
#include "lab/show/markdown/markdown.h"
#include "lab/show/terminal/cells.h"

namespace assay::lab {
namespace {

// The rows of a summary, in the order they were made.
RowPointers rows_of(std::span<const Row> rows, const Summary& s) {
  RowPointers own;
  for (const Row& row : rows) {
    if (series_of(row) == static_cast<const SeriesId&>(s)) own.push_back(&row);
  }
  std::ranges::sort(own, [](const Row* a, const Row* b) { return made_before(*a, *b); });
  return own;
}

// The largest value of a metric over the ok ones.
Json largest(const RowPointers& rows, const std::string& metric) {
  std::optional<double> most;
  for (const Row* row : rows) {
    const double value = row->status == Status::kOk ? row->metric_or_nan(metric) : NAN;
    if (value == value) most = most ? std::max(*most, value) : value;
  }
  return value_to_json(most);
}

Json trend_of(std::span<const HistorySeries> series, const Summary& s) {
  Json trend = Json::array();
  for (const auto& one : series) {
    if (one.key != static_cast<const SeriesId&>(s)) continue;
    for (const auto& p : one.points) {
      trend.push_back(Json{{"version", p.label()},
                           {"run", p.runs.front()},
                           {"status", name_of(p.status)},
                           {"attempts", p.attempts},
                           {"median", value_to_json(p.median)},
                           {"low", p.interval ? number_to_json(p.interval->low) : Json()},
                           {"high", p.interval ? number_to_json(p.interval->high) : Json()}});
    }
  }
  return trend;
}

Json provider_entry(const Summary& s, std::span<const Row> latest,
                    std::span<const HistorySeries> series) {
  const Interval* interval = s.ratio && s.ratio->interval ? &*s.ratio->interval : nullptr;
  const auto rows = rows_of(latest, s);
  const Row* row = rows.empty() ? nullptr : rows.back();
  return {{"provider", s.provider},
          {"is_baseline", s.is_baseline},
          {"status", name_of(s.status)},
          {"as_expected", s.as_expected},
          {"failure", s.failure ? to_json(*s.failure) : Json()},
          {"metric", s.metric},
          {"median", value_to_json(s.median)},
          {"rounds", s.rounds},
          {"ratio", s.ratio ? number_to_json(s.ratio->ratio) : Json()},
          {"low", interval != nullptr ? number_to_json(interval->low) : Json()},
          {"high", interval != nullptr ? number_to_json(interval->high) : Json()},
          {"verdict", verdict_cell(s)},
          {"fraction_of_limit", value_to_json(s.fraction_of_limit)},
          {"fidelity_error", value_to_json(s.fidelity_error)},
          {"fidelity", row != nullptr && row->fidelity ? to_json(*row->fidelity) : Json()},
          {"peak_rss", value_to_json(s.peak_rss)},
          {"peak_device_memory", largest(rows, "peak_device_memory")},
          {"cold_time", largest(rows, "cold_time")},
          {"unequal_work", s.unequal_work.empty() ? Json() : Json(s.unequal_work)},
          {"versions",
           row != nullptr && row->provenance.versions ? Json(*row->provenance.versions) : Json()},
          {"caveats", s.caveats},
          {"trend", trend_of(series, s)}};
}

std::string text_of(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

std::string number_cell(const Json& value, const std::string& metric) {
  return value.is_number() ? format_metric(value.get<double>(), metric) : "–";
}

std::string ratio_text(const Json& p) {
  if (p["is_baseline"] == true) return "1 (baseline)";
  if (!p["ratio"].is_number()) return "–";
  const auto ratio = format_ratio(p["ratio"].get<double>());
  if (!p["low"].is_number() || !p["high"].is_number()) return ratio;
  return fmt::format("{} [{}, {}]", ratio, format_ratio(p["low"].get<double>()),
                     format_ratio(p["high"].get<double>()));
}

std::string trend_text(const Json& trend) {
  std::vector<Attempt> attempts;
  for (const auto& point : trend) {
    const bool known = point["median"].is_number();
    attempts.push_back({known ? Status::kOk : status_from_name(text_of(point, "status"), "trend"),
                        known ? point["median"].get<double>() : NAN});
  }
  return sparkline(attempts, 20);
}

}  // namespace

Json evidence_bundle(std::span<const Row> all, std::span<const Row> latest,
                     const BundleOptions& options) {
  std::vector<Row> here;
  for (const Row& row : latest) {
    if (row.case_name == options.case_name && row.point == options.point) here.push_back(row);
  }
  if (here.empty()) {
    fail("no rows of case '{}' at this point: {}", options.case_name,
         canonical_json(options.point).substr(0, 200));
  }
  const auto series =
      history(all, {.case_name = options.case_name, .provider = {}, .point = options.point});
  std::map<std::string, Json> places;
  std::vector<std::string> order;
  std::set<std::string> runs;
  for (const auto& s : summarise(here)) {
    const auto id = canonical_json(Json::array({s.platform, s.fingerprint, s.cores, s.isolation}));
    if (!places.contains(id)) {
      order.push_back(id);
      const auto rows = rows_of(here, s);
      places[id] = {{"platform", s.platform},
                    {"fingerprint", s.fingerprint},
                    {"cores", s.cores},
                    {"isolation", s.isolation.empty() ? Json() : Json(s.isolation)},
                    {"machine", rows.empty() ? Json() : to_json(rows.back()->machine)},
                    {"providers", Json::array()}};
    }
    places[id]["providers"].push_back(provider_entry(s, here, series));
    runs.insert(s.runs.begin(), s.runs.end());
  }
  Json list = Json::array();
  for (const auto& id : order) list.push_back(places[id]);
  return {{"case", options.case_name},
          {"suite", here.front().suite},
          {"point", options.point},
          {"work", here.front().work ? Json(*here.front().work) : Json()},
          {"runs", runs},
          {"places", std::move(list)},
          {"caveats", environment_caveats(here)},
          {"recommendation", nullptr}};
}

std::string bundle_markdown(const Json& bundle) {
  std::string text = fmt::format("# Evidence: {}\n\n", markdown_text(text_of(bundle, "case")));
  text += fmt::format("At {}.\n", markdown_text(point_label(bundle["point"]), 400));
  for (const auto& place : bundle["places"]) {
    const auto model = text_of(place["machine"], "cpu_model");
    text += fmt::format("\n## On {}, {} cores, machine {}{}{}\n\n",
                        markdown_text(text_of(place, "platform")), canonical_json(place["cores"]),
                        markdown_text(text_of(place, "fingerprint")), model.empty() ? "" : ": ",
                        markdown_text(model));
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> notes;
    for (const auto& p : place["providers"]) {
      const auto metric = text_of(p, "metric");
      const auto name = markdown_text(text_of(p, "provider"));
      rows.push_back({name, number_cell(p["median"], metric), ratio_text(p),
                      canonical_json(p["rounds"]),
                      p["fidelity_error"].is_number()
                          ? fmt::format("{:.2g}", p["fidelity_error"].get<double>())
                          : "–",
                      number_cell(p["peak_rss"], "peak_rss_steady"),
                      number_cell(p["fraction_of_limit"], "fraction_of_limit"),
                      markdown_text(trend_text(p["trend"])), markdown_text(text_of(p, "verdict"))});
      for (const auto& caveat : p["caveats"]) {
        notes.push_back(
            fmt::format("- {}: {}\n", name, markdown_text(caveat.get<std::string>(), 400)));
      }
    }
    text += markdown_table({"provider", "median", "ratio", "rounds", "error/tol", "memory",
                            "of limit", "trend", "verdict"},
                           "lrlrrrrll", rows);
    if (!notes.empty()) text += "\n";
    for (const auto& note : notes) text += note;
  }
  if (!bundle["caveats"].empty()) text += "\n## To keep in mind\n\n";
  for (const auto& caveat : bundle["caveats"]) {
    text += fmt::format("- {}\n", markdown_text(caveat.get<std::string>(), 400));
  }
  text += "\n## Recommendation\n\nNone, on purpose: this is the evidence, the decision is yours.\n";
  return text;
}

}  // namespace assay::lab
