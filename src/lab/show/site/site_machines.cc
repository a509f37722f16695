// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/site_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "lab/beside/caveats.h"
#include "lab/stats/noise_budget.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

Json quantile_or_null(const std::vector<double>& values, double q) {
  return values.empty() ? Json() : Json(quantile(values, q));
}

// What disturbed the attempts, and by how much attempts of the same thing differed.
struct Noise {
  int attempts = 0, excluded = 0, high_steal = 0;
  std::vector<double> steal, load, spread;
  std::vector<double> within, between, over_runs;  // of the budget of each series

  Json to_json() const {
    return {{"attempts", attempts},
            {"excluded", excluded},
            {"high_steal", high_steal},
            {"steal_median", quantile_or_null(steal, 0.5)},
            {"steal_most", quantile_or_null(steal, 1)},
            {"load_median", quantile_or_null(load, 0.5)},
            {"load_most", quantile_or_null(load, 1)},
            {"spread_median", quantile_or_null(spread, 0.5)},
            {"spread_p90", quantile_or_null(spread, 0.9)},
            {"series", within.size()},
            {"within_process", quantile_or_null(within, 0.5)},
            {"between_processes", quantile_or_null(between, 0.5)},
            {"between_runs", quantile_or_null(over_runs, 0.5)}};
  }
};

void add_row(Noise& noise, const Row& row) {
  noise.excluded += row.status == Status::kExcluded;
  if (!is_measured(row.status)) return;
  ++noise.attempts;
  if (const auto steal = row.provenance.steal_fraction(); steal && std::isfinite(*steal)) {
    noise.steal.push_back(*steal);
    noise.high_steal += *steal > kHighSteal;
  }
  if (const auto load = row.provenance.load_before(); load && std::isfinite(*load)) {
    noise.load.push_back(*load);
  }
}

// The interquartile range of a summary's ok attempts over their median.
void add_spread(Noise& noise, const Summary& s) {
  const auto values = s.values(Status::kOk);
  if (values.size() < 4) return;
  noise.spread.push_back((quantile(values, 0.75) - quantile(values, 0.25)) / median(values));
}

// The batch times of an ok attempt; empty where there are none that can be used.
std::vector<double> batches_of(const Row& row) {
  const auto& samples = row.samples.steady_s();
  const bool usable = std::ranges::all_of(samples, [](double sample) { return sample > 0; });
  return row.status == Status::kOk && usable ? samples : std::vector<double>();
}

// Splits the scatter of every series of the machines into its sources.
void add_budgets(std::vector<Noise>& noise, const SiteIndex& index) {
  std::map<SeriesKey, std::vector<RunBatches>> series;
  for (const auto& s : index.summaries()) {
    RunBatches run;
    for (const int row : s.rows) {
      auto batches = batches_of(index.rows()[static_cast<std::size_t>(row)]);
      if (!batches.empty()) run.push_back(std::move(batches));
    }
    if (!run.empty()) series[s.key].push_back(std::move(run));
  }
  for (const auto& [key, runs] : series) {
    const auto budget = noise_budget(runs);
    auto& of_machine = noise[static_cast<std::size_t>(key.machine)];
    if (budget.within_process) of_machine.within.push_back(*budget.within_process);
    if (budget.between_processes) of_machine.between.push_back(*budget.between_processes);
    if (budget.between_runs) of_machine.over_runs.push_back(*budget.between_runs);
  }
}

// The rates of a processor or a device as roofs: of computing, and of moving bytes.
Json roofs_json(const std::map<std::string, double>& rates) {
  Json compute = Json::array(), memory = Json::array();
  for (const auto& [name, rate] : rates) {
    // What a launch and the way to a device take is nobody's roof.
    if (name.starts_with("launch") || name.starts_with("to_") || name.starts_with("from_"))
      continue;
    const bool bytes = name == "triad" || name == "copy" || name.starts_with("read_");
    const int each = bytes ? 1 : Ceilings::operations(name);
    (bytes ? memory : compute).push_back(Json::array({name, each * rate}));
  }
  return {{"compute", std::move(compute)}, {"memory", std::move(memory)}};
}

Json ceilings_json(const Ceilings& ceilings) {
  Json groups = Json::array();
  for (const auto& group : ceilings.groups) {
    Json json = roofs_json(group.rates);
    json["cores"] = group.cores;
    json["clock_hz"] = group.clock_hz;
    groups.push_back(std::move(json));
  }
  for (const auto& device : ceilings.devices) {
    Json json = roofs_json(device.rates);
    json["device"] = device.name;
    groups.push_back(std::move(json));
  }
  return {{"measured", ceilings.measured},
          {"instruction_set", ceilings.instruction_set},
          {"groups", std::move(groups)}};
}

}  // namespace

Json site_machines(const SiteIndex& index, const std::map<std::string, Ceilings>& ceilings) {
  const auto count = index.machines().size();
  std::vector<Noise> noise(count);
  std::vector<const Row*> newest(count, nullptr);
  for (const Row& row : index.rows()) {
    const auto machine = static_cast<std::size_t>(index.machine_of(row));
    add_row(noise[machine], row);
    newest[machine] = &row;
  }
  for (const auto& s : index.summaries()) {
    add_spread(noise[static_cast<std::size_t>(s.key.machine)], s.summary);
  }
  add_budgets(noise, index);
  Json machines = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    Json facts = Json::array();
    const Json of_machine = lab::to_json(newest[i]->machine);
    for (const auto& [name, value] : of_machine.items()) {
      if (name == "fingerprint") continue;
      facts.push_back(Json::array({name, value}));
    }
    const auto found = ceilings.find(index.machines()[i]);
    machines.push_back(
        {{"fingerprint", index.machines()[i]},
         {"name", fmt::format("M{}", i + 1)},
         {"model", newest[i]->machine.cpu_model.value_or("")},
         {"facts", std::move(facts)},
         {"noise", noise[i].to_json()},
         {"ceilings", found == ceilings.end() ? Json() : ceilings_json(found->second)}});
  }
  return machines;
}

}  // namespace assay::lab
