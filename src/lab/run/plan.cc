// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/units.h"
#include "lab/run/order.h"
#include "lab/stats/stopping.h"

namespace assay::lab {
namespace {

bool among(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

void check_label(const std::string& label, const std::string& shown) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  };
  if (label.empty() || label.size() > 32 || !std::ranges::all_of(label, allowed)) {
    fail("a label after @ has 1 to 32 letters, digits, '.', '_' or '-', got '{}'", shown);
  }
}

// A name that no selected case knows is a typing error, not an empty selection.
void check_provider_names(const std::vector<const Case*>& cases, const RunRequest& request) {
  std::set<std::string> known;
  for (const auto* c : cases) {
    for (const auto& provider : c->providers()) known.insert(provider.id);
  }
  const std::vector<std::string> baselines(request.baseline.empty() ? 0 : 1, request.baseline);
  for (const auto* list : {&request.providers, &request.skip, &baselines}) {
    for (const auto& name : *list) {
      if (!known.contains(std::string(provider_of(name)))) {
        fail("unknown provider (known here: {}): '{}'", fmt::join(known, ", "), name);
      }
      if (name.find('@') != std::string::npos) check_label(std::string(side_of(name)), name);
    }
  }
  const auto is_baseline = [&](const std::string& name) {
    return name == request.baseline || provider_of(name) == request.baseline;
  };
  if (!request.baseline.empty() && !request.providers.empty() &&
      std::ranges::none_of(request.providers, is_baseline)) {
    fail("the baseline is not among the providers asked for: '{}'", request.baseline);
  }
  std::set<std::string> labels;
  for (const auto& side : request.sides) {
    check_label(side.label, side.label);
    if (!labels.insert(side.label).second) fail("two sides have the same label: '{}'", side.label);
    if (!side.worker.empty() && !find_program(side.worker)) {
      fail("no worker program for side '{}' at '{}'", side.label, side.worker);
    }
  }
}

// The names under which a provider runs, in the order asked for.
std::vector<std::string> names_of(const std::string& provider, const RunRequest& request) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!among(names, name)) names.push_back(name);
  };
  for (const auto& name : request.providers) {
    if (provider_of(name) == provider) add(name);
  }
  if (!request.providers.empty()) return names;
  for (const auto& side : request.sides) add(provider + "@" + side.label);
  if (names.empty()) add(provider);
  return names;
}

std::string worker_of(const std::string& name, const RunRequest& request) {
  for (const auto& side : request.sides) {
    if (side.label == side_of(name)) return side.worker;
  }
  return "";
}

std::optional<Provider> provider_named(const Case& c, const std::string& id,
                                       const std::string& platform) {
  for (auto& provider : c.providers()) {
    if (provider.id == id && among(provider.platforms, platform)) return std::move(provider);
  }
  return std::nullopt;
}

// Whoever is asked for, else the case's own, else the first that was named, else the first: of
// those that run, so that providers of the same rounds always have a ratio.
std::string baseline_of(const PointPlan& plan, const RunRequest& request) {
  const std::string own(plan.definition->baseline());
  std::vector<std::string> wanted = {request.baseline, own};
  wanted.insert(wanted.end(), request.providers.begin(), request.providers.end());
  for (const auto& name : wanted) {
    for (const auto& c : plan.contenders) {
      if (!c.refused && c.name == name) return c.name;
    }
    for (const auto& c : plan.contenders) {
      if (!c.refused && c.provider.id == name) return c.name;
    }
  }
  for (const auto& c : plan.contenders) {
    if (!c.refused) return c.name;
  }
  return own;
}

std::optional<Refusal> refusal(const Case& c, const Json& point, const Contender& contender,
                               const Environment& environment, const RunRequest& request,
                               const std::optional<Skip>& no_gpu, std::uint64_t memory_limit) {
  const auto skipped = [](std::string code, std::string message) {
    return Refusal{Status::kSkipped, {std::move(code), std::move(message)}};
  };
  const auto& id = contender.provider.id;
  if (among(request.skip, id) || among(request.skip, contender.name))
    return skipped("excluded", "left out by --skip");
  if (auto why = c.why_not(point, id, contender.platform)) {
    return Refusal{Status::kSkipped, std::move(*why)};
  }
  const bool on_gpu = contender.platform == "cuda";
  if (on_gpu && no_gpu) return Refusal{Status::kSkipped, *no_gpu};
  if (on_gpu && (request.in_process || !contender.side_worker.empty())) {
    return skipped("provider_not_applicable",
                   "attempts on a GPU are made by this build's worker, in processes");
  }
  if (!contender.side_worker.empty() &&
      (contender.provider.runtime != Runtime::kNative || request.in_process)) {
    return skipped("provider_not_applicable",
                   "a side with a worker program of its own runs native providers in processes");
  }
  if (environment.missing) return Refusal{Status::kEnvMissing, *environment.missing};
  if (request.in_process && contender.provider.runtime != Runtime::kNative) {
    return skipped("provider_not_applicable", "only native providers run inside the runner");
  }
  const auto estimate = c.memory_estimate(point, id);
  if (estimate > memory_limit) {
    return skipped(
        "over_memory_estimate",
        fmt::format("needs about {}, the limit is {}", format_bytes(static_cast<double>(estimate)),
                    format_bytes(static_cast<double>(memory_limit))));
  }
  return std::nullopt;
}

// Which contenders run in which round.
std::vector<std::vector<int>> order_of(const PointPlan& plan, const RunRequest& request) {
  std::vector<int> repeated;
  for (int i = 0; i < static_cast<int>(plan.contenders.size()); ++i) {
    const auto& contender = plan.contenders[static_cast<std::size_t>(i)];
    if (!contender.refused && !contender.provider.deterministic()) repeated.push_back(i);
  }
  // Each point gets a stream of its own, so that adding a point changes no other point's order.
  const auto seed_text = fmt::format("{} {} {}", request.order_seed, plan.definition->name(),
                                     canonical_json(plan.point));
  const std::uint64_t seed = std::stoull(short_hash(seed_text), nullptr, 16);
  auto order = balanced_order(static_cast<int>(repeated.size()), request.rounds, seed);
  for (auto& round : order) {
    for (int& item : round) item = repeated[static_cast<std::size_t>(item)];
  }
  return order;
}

std::vector<DeterministicBatch> batches_of(const std::vector<PointPlan>& points) {
  std::map<std::tuple<std::string_view, std::string, std::string>, DeterministicBatch> batches;
  for (std::size_t p = 0; p < points.size(); ++p) {
    for (std::size_t c = 0; c < points[p].contenders.size(); ++c) {
      const auto& contender = points[p].contenders[c];
      if (contender.refused || !contender.provider.deterministic()) continue;
      batches[{points[p].definition->name(), contender.name, contender.platform}].members.push_back(
          {p, c});
    }
  }
  std::vector<DeterministicBatch> list;
  for (auto& [key, batch] : batches) list.push_back(std::move(batch));
  return list;
}

}  // namespace

int attempts_at(const PointPlan& plan, const RunRequest& request) {
  int attempts = 0;
  for (const auto& contender : plan.contenders) {
    attempts += contender.refused || contender.provider.deterministic() ? 1 : request.rounds;
  }
  return attempts;
}

void keep_points(Plan& plan, const RunRequest& request,
                 const std::function<bool(const PointPlan&)>& is_kept) {
  std::erase_if(plan.points, [&](const PointPlan& at) { return !is_kept(at); });
  plan.batches = batches_of(plan.points);
  plan.attempts = 0;
  for (const auto& at : plan.points) plan.attempts += attempts_at(at, request);
}

std::optional<std::size_t> reference_of(const PointPlan& plan, std::size_t i) {
  const auto& own = plan.contenders[i];
  std::optional<std::size_t> baseline;
  for (std::size_t j = 0; j < plan.contenders.size(); ++j) {
    const auto& other = plan.contenders[j];
    if (other.platform != own.platform || other.refused || other.provider.deterministic()) continue;
    if (other.provider.id == own.provider.id && j < i) return j;
    if (!baseline && other.name == plan.baseline) baseline = j;
  }
  if (baseline == i) return std::nullopt;
  return baseline;
}

// A point that says which case it is for must be for one that runs.
void check_cases_of_points(const RunRequest& request) {
  const auto& points = request.points;
  const auto given = points.is_array() ? points : Json::array({points});
  for (const auto& one : given) {
    if (!one.is_object() || !one.contains("case")) continue;
    if (!one["case"].is_string() || !among(request.cases, one["case"].get<std::string>())) {
      fail("point: 'case' is none of the cases that run: {}", canonical_json(one["case"]));
    }
  }
  if (request.mode != "points") return;
  for (const auto& name : request.cases) {
    if (std::ranges::none_of(given, [&](const Json& one) {
          return !one.is_object() || !one.contains("case") || one["case"] == name;
        })) {
      fail("--points has none for case '{}': give one, or leave the case out", name);
    }
  }
}

std::vector<Json> selected_points(const Case& definition, const RunRequest& request) {
  std::vector<Json> points;
  if (request.mode == "quick") {
    points = definition.representative_points();
  } else if (request.mode == "standard") {
    points = definition.standard_points();
  } else if (request.mode == "all") {
    points = definition.all_points();
  } else {
    // Keys that are not given come from the representative point; where a case has several (one for
    // each algebra), what was given applies to each of them, and repeats fall away below.
    const Json given = request.points.is_array() ? request.points : Json::array({request.points});
    for (auto one : given) {
      if (one.is_object() && one.contains("case")) {  // said of one case alone
        if (one["case"] != definition.name()) continue;
        one.erase("case");
      }
      for (const auto& representative : definition.representative_points()) {
        points.push_back(definition.complete_point(one, representative));
      }
    }
  }
  std::vector<Json> unique;
  for (auto& point : points) {
    if (std::ranges::find(unique, point) == unique.end()) unique.push_back(std::move(point));
  }
  return unique;
}

void check_request(const RunRequest& r) {
  const auto at_least = [](const char* name, double value, double least) {
    if (!(value >= least)) fail("{} must be at least {}, got {}", name, least, value);
  };
  at_least("--rounds", r.rounds, 1);
  at_least("--budget", r.budget_s, 0);
  at_least("--precision", r.precision, 0);
  if (r.precision > 0 && r.rounds != kMaxRounds) {
    fail("--precision decides the number of rounds itself, up to {}; got --rounds {}", kMaxRounds,
         r.rounds);
  }
  at_least("--batches", r.settings.batches, kMinBatches);
  at_least("--warm-up", r.settings.warm_up_calls, 0);
  at_least("--cpu-slots", r.cpu_slots, 1);
  at_least("--gpus", r.gpus, 1);
  if (r.gpus > r.cpu_slots) {
    fail("each GPU takes a CPU slot: --gpus {} with --cpu-slots {}", r.gpus, r.cpu_slots);
  }
  at_least("--cores", r.cores, 0);
  at_least("--tries", r.max_tries, 1);
  if (!(r.time_limit_s > 0)) fail("--limit must be more than 0 s, got {}", r.time_limit_s);
  for (const auto& platform : r.platforms) {
    if (platform != "cpu" && platform != "cuda")
      fail("unknown platform (cpu, cuda): '{}'", platform);
  }
}

Plan make_plan(const CaseRegistry& cases, const RunRequest& request, EnvironmentProbe& probe,
               const std::optional<Skip>& no_gpu, std::uint64_t memory_limit) {
  std::vector<const Case*> selected;
  for (const auto& name : request.cases) selected.push_back(&cases.find(name));
  check_provider_names(selected, request);
  check_cases_of_points(request);

  Plan plan;
  plan.memory_limit = memory_limit;
  std::map<std::string, std::string> hashes;  // of the sides' workers
  for (const auto* definition : selected) {
    // What is not installed is not there at any point: one row of the case says so.
    std::set<std::pair<std::string, std::string>> told;
    for (auto& point : selected_points(*definition, request)) {
      PointPlan at{definition, std::move(point), {}, "", {}};
      for (const auto& provider : definition->providers()) {
        const auto names = names_of(provider.id, request);
        for (const auto& platform : provider.platforms) {
          if (!among(request.platforms, platform)) continue;
          for (const auto& name : names) {
            const auto* const on_side = cases.of_side(side_of(name), definition->name());
            const auto own = on_side == nullptr ? std::optional(provider)
                                                : provider_named(*on_side, provider.id, platform);
            if (!own) continue;  // this side has no such provider
            const auto& environment = probe(*own, platform);
            Contender contender{.name = name,
                                .provider = *own,
                                .side_worker = worker_of(name, request),
                                .side_sha256 = "",
                                .platform = platform,
                                .command = environment.command,
                                .versions = environment.versions,
                                .refused = {}};
            if (on_side != nullptr) contender.definition = on_side->definition();
            if (const auto& worker = contender.side_worker; !worker.empty()) {
              contender.command = {worker};
              if (!hashes.contains(worker)) hashes[worker] = sha256_file(worker);
              contender.side_sha256 = hashes[worker];
            }
            contender.refused = refusal(*definition, at.point, contender, environment, request,
                                        no_gpu, memory_limit);
            const bool missing =
                contender.refused && (contender.refused->status == Status::kEnvMissing ||
                                      (no_gpu && contender.refused->why.code == no_gpu->code));
            if (missing && !told.emplace(name, platform).second) continue;
            at.contenders.push_back(std::move(contender));
          }
        }
      }
      at.baseline = baseline_of(at, request);
      at.order = order_of(at, request);
      if (!at.contenders.empty()) plan.points.push_back(std::move(at));
    }
  }
  plan.batches = batches_of(plan.points);
  for (const auto& at : plan.points) plan.attempts += attempts_at(at, request);
  plan.may_end_early = request.precision > 0 || request.budget_s > 0;
  if (plan.points.empty()) fail("nothing to run: no provider of these cases matches the selection");
  return plan;
}

}  // namespace assay::lab
