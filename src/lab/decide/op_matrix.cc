// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/op_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "lab/decide/compare.h"
#include "lab/decide/selectors.h"

namespace assay::lab {
namespace {

struct Figure {
  Json baseline, ratio, meta = Json::object();
  std::string note;
};

std::string baseline_of(const std::vector<Row>& rows) {
  std::string baseline, run;
  for (const Row& row : rows) {
    const auto text = row.provenance.baseline;
    if (text && row.run_id >= run) baseline = *text, run = row.run_id;
  }
  return baseline;
}

// Those of the machine, cores and isolation of the newest run.
std::vector<Row> newest_machine(std::vector<Row> rows) {
  const Row* newest = nullptr;
  for (const Row& row : rows) {
    const bool newer = newest == nullptr || row.run_id > newest->run_id;
    if (row.status == Status::kOk && newer) newest = &row;
  }
  if (newest == nullptr) return {};
  const auto key = place_of(*newest);
  std::erase_if(rows, [&](const Row& row) { return place_of(row) != key; });
  return rows;
}

std::optional<Comparison> compared(const std::vector<Row>& rows, const std::string& reference,
                                   const std::string& ours) {
  auto a = selected_rows({SelectorKind::kProvider, reference, ""}, rows);
  auto b = selected_rows({SelectorKind::kProvider, ours, ""}, rows);
  if (a.empty() || b.empty()) return std::nullopt;
  keep_newest_shared_runs(a, b);
  auto comparisons = compare_matches(match_rows(a, b, {.by_provider = true}));
  if (comparisons.size() != 1 || !comparisons.front().compared) return std::nullopt;
  return std::move(comparisons.front());
}

Figure figure_of(const std::vector<Row>& all, const OpMatrixOptions& options) {
  Figure figure;
  const auto rows = newest_machine(all);
  if (rows.empty()) {
    figure.note = "no ok rows at this point";
    return figure;
  }
  const auto reference = options.reference.empty() ? baseline_of(rows) : options.reference;
  if (reference.empty()) {
    figure.note = "the rows name no baseline";
    return figure;
  }
  std::set<std::string> candidates;
  for (const Row& row : rows) {
    const bool ours =
        options.ours.empty() ? row.provider.starts_with("assay") : row.provider == options.ours;
    if (ours && row.provider != reference) candidates.insert(row.provider);
  }
  for (const auto& provider : candidates) {
    const auto c = compared(rows, reference, provider);
    if (!c || (figure.ratio.is_number() && figure.ratio.get<double>() <= c->ratio)) continue;
    figure.baseline = reference;
    figure.ratio = number_to_json(c->ratio);
    figure.meta = {{"provider", provider},
                   {"low", c->interval ? number_to_json(c->interval->low) : Json()},
                   {"high", c->interval ? number_to_json(c->interval->high) : Json()},
                   {"rounds", c->rounds},
                   {"pairing", name_of(c->pairing)},
                   {"runs", c->match.b->summary.runs},
                   {"fingerprint", c->match.key.fingerprint}};
  }
  if (!figure.ratio.is_number()) {
    figure.note = fmt::format("no two ok sides: ours against '{}'", reference);
  }
  return figure;
}

}  // namespace

Json op_matrix_fragment(std::span<const Row> latest, const OpMatrixOptions& options) {
  Json fragment = Json::object();
  for (const auto& [name, point] : options.points) {
    Json notes = Json::object(), meta = {{"point", point}};
    Json entry = Json::object();
    bool any = false;
    for (const auto& [platform, key] : {std::pair("cpu", "cpu"), std::pair("cuda", "gpu")}) {
      std::vector<Row> rows;
      bool quick = false;
      for (const Row& row : latest) {
        if (row.case_name != name || row.point != point || row.platform != platform) continue;
        const bool is_quick = row.provenance.mode == "quick";
        quick = quick || is_quick;
        if (!is_quick || options.quick_rows) rows.push_back(row);
      }
      any = any || !rows.empty() || quick;
      auto figure = figure_of(rows, options);
      if (rows.empty() && quick) figure.note = "only rows of --quick, which are not full ones";
      entry[fmt::format("perf_{}_baseline", key)] = figure.baseline;
      entry[fmt::format("perf_{}_ratio", key)] = figure.ratio;
      if (!figure.note.empty()) notes[key] = figure.note;
      if (!figure.meta.empty()) meta[key] = figure.meta;
    }
    if (!any) continue;
    meta["notes"] = std::move(notes);
    entry["_meta"] = std::move(meta);
    fragment[name] = std::move(entry);
  }
  return fragment;
}

OpMatrixApplied apply_op_matrix(const Json& fragment, Json matrix,
                                const std::map<std::string, std::string>& names,
                                std::string_view what) {
  if (!matrix.is_object() || !matrix.contains("ops") || !matrix["ops"].is_array()) {
    fail("{}: not an operation matrix: no list 'ops'", what);
  }
  OpMatrixApplied applied;
  for (const auto& [name, entry] : fragment.items()) {
    bool found = false, has_figure = false;
    for (auto& op : matrix["ops"]) {
      const auto qualname = json_field<std::string>(op, "qualname", what);
      const auto named = names.find(name);
      const bool is_it = named != names.end()
                             ? qualname == named->second
                             : qualname.substr(qualname.find_last_of('.') + 1) == name;
      if (!is_it) continue;
      found = true;
      for (const char* key : {"cpu", "gpu"}) {
        const auto ratio = fmt::format("perf_{}_ratio", key);
        const auto baseline = fmt::format("perf_{}_baseline", key);
        if (!entry[ratio].is_number()) continue;
        op[ratio] = entry[ratio];
        op[baseline] = entry[baseline];
        has_figure = true;
      }
      if (has_figure) applied.filled.push_back(qualname);
    }
    if (!found) applied.unknown.push_back(name);
  }
  applied.matrix = std::move(matrix);
  return applied;
}

}  // namespace assay::lab
