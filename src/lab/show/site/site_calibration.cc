// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/site_parts.h"

#include <cmath>
#include <map>
#include <vector>

#include "lab/beside/pairs.h"
#include "lab/record/provider.h"
#include "lab/stats/calibration.h"

namespace assay::lab {
namespace {

constexpr int kLeastRounds = 6;  // below that no verdict is possible, and none would be fair

// Attempts of the same code at the same point in the same run: by name, the value of each round.
struct Code {
  int run = 0;
  SeriesKey place;     // whose provider is that behind the names
  std::string worker;  // hash of another build's worker; empty: our own

  auto operator<=>(const Code&) const = default;
};

std::map<Code, std::map<std::string, ByRound>> same_code(const SiteIndex& index) {
  std::map<Code, std::map<std::string, ByRound>> codes;
  for (const auto& s : index.summaries()) {
    if (s.summary.status != Status::kOk) continue;
    const Row& first = index.rows()[static_cast<std::size_t>(s.rows.front())];
    Code code{s.run, s.key,
              first.provenance.side ? first.provenance.side->worker_sha256.value_or("") : ""};
    code.place.provider = provider_of(s.summary.provider);
    RowPointers attempts;
    for (const int row : s.rows) attempts.push_back(&index.rows()[static_cast<std::size_t>(row)]);
    codes[code][s.summary.provider] = values_by_round(attempts, s.summary.metric);
  }
  return codes;
}

Json rate_json(const Rate& rate) {
  return {{"rate", rate.rate},
          {"low", rate.interval.low},
          {"high", rate.interval.high},
          {"count", rate.count},
          {"trials", rate.trials}};
}

struct MachineEvidence {
  std::vector<std::vector<double>> comparisons;  // d of each round
  Json list = Json::array();
  std::optional<CalibrationRecord> recorded;
};

void add_comparison(MachineEvidence& evidence, const Code& code, const std::string& name,
                    const ByRound& first, const std::string& other, const ByRound& second) {
  const auto pairs = pair_rounds(second, first);
  if (pairs.rounds() < kLeastRounds) return;
  const auto ratio = *pairs.ratio();
  evidence.list.push_back({{"case", code.place.case_index},
                           {"point", code.place.point},
                           {"run", code.run},
                           {"provider", name},
                           {"other", other},
                           {"rounds", ratio.rounds},
                           {"ratio", ratio.ratio},
                           {"low", ratio.interval ? Json(ratio.interval->low) : Json()},
                           {"high", ratio.interval ? Json(ratio.interval->high) : Json()}});
  evidence.comparisons.push_back(pairs.log_ratios());
}

}  // namespace

Json site_calibrations(const SiteIndex& index) {
  std::map<int, MachineEvidence> machines;
  for (const auto& [code, names] : same_code(index)) {
    // Each name against the first: comparisons that share an attempt are not independent, but all
    // pairs would share more.
    for (auto it = names.begin(); it != names.end(); ++it) {
      if (it == names.begin()) continue;
      add_comparison(machines[code.place.machine], code, names.begin()->first,
                     names.begin()->second, it->first, it->second);
    }
  }
  for (const Row& row : index.rows()) {  // the newest word last
    const auto& recorded = row.provenance.calibration;
    if (recorded) machines[index.machine_of(row)].recorded = recorded;
  }
  Json all = Json::array();
  for (auto& [machine, evidence] : machines) {
    Json json = {{"machine", machine}, {"recorded", Json()}, {"comparisons", 0}};
    if (const auto& recorded = evidence.recorded) {
      json["recorded"] = {{"measured", recorded->measured.value_or("")}};
      if (recorded->comparisons) json["recorded"]["comparisons"] = *recorded->comparisons;
      if (recorded->floor) json["recorded"]["floor"] = *recorded->floor;
    }
    if (!evidence.comparisons.empty()) {
      const GateSettings settings;
      const auto aa = summarise_aa(evidence.comparisons, settings);
      json["comparisons"] = aa.comparisons;
      json["tolerance"] = settings.tolerance;
      json["floor"] = aa.floor;
      json["largest"] = aa.largest;
      json["sigma_d"] = aa.sigma_d;
      json["false_alarms"] = rate_json(aa.false_alarms);
      json["unresolved"] = rate_json(aa.unresolved);
      json["excludes_one"] = rate_json(aa.excludes_one);
      json["list"] = std::move(evidence.list);
    }
    if (json["comparisons"] != 0 || !json["recorded"].is_null()) all.push_back(std::move(json));
  }
  return all;
}

}  // namespace assay::lab
