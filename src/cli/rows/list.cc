// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <cstdio>
#include <string>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/own_cases.h"
#include "cli/program.h"
#include "lab/record/point.h"
#include "lab/run/environment.h"
#include "lab/run/gpu.h"

namespace assay::cli {
namespace {

// Why a provider cannot run on a platform of this machine.
std::optional<std::string> why_not_here(const lab::Environment& environment,
                                        const std::string& platform) {
  static const auto no_gpu = lab::why_no_gpu();
  if (platform == "cuda" && no_gpu) return no_gpu->message;
  if (environment.missing) return environment.missing->message;
  return std::nullopt;
}

std::string availability(const lab::Environment& environment, const std::string& platform) {
  if (const auto why = why_not_here(environment, platform))
    return fmt::format("not here ({})", *why);
  std::string text = "available";
  for (const auto& [name, version] : environment.versions) {
    if (name != "python") text += fmt::format(", {} {}", name, version);
  }
  if (!environment.interpreter.empty()) {
    text += fmt::format("; {} (found by {})", environment.interpreter, environment.found_by);
  }
  return text;
}

void print_case(const lab::Case& c, lab::EnvironmentProbe& probe, bool in_full) {
  print(fmt::format("  {}: {}\n", c.name(), c.description()));
  print(fmt::format("    points: {} quick, {} standard, {} in all; baseline {}\n",
                    c.representative_points().size(), c.standard_points().size(),
                    c.all_points().size(), c.baseline()));
  for (const auto& provider : c.providers()) {
    for (const auto& platform : provider.platforms) {
      print(fmt::format("    {:<16} {:<5} {}\n", provider.id, platform,
                        availability(probe(provider, platform), platform)));
      if (in_full) print(fmt::format("    {:<22} {}\n", "", provider.description));
      if (in_full && !provider.unequal_work.empty()) {
        print(fmt::format("    {:<22} unequal work: {}\n", "", provider.unequal_work));
      }
    }
  }
  if (!in_full) return;
  print("    parameters:\n");
  for (const auto& p : c.schema().parameters()) {
    std::string values;
    for (const auto& choice : p.choices) values += (values.empty() ? "" : " | ") + choice;
    constexpr std::int64_t kAny = std::int64_t{1} << 53;  // what a point can hold
    if (p.text) values = p.longest_if_given > 0 ? "a text, or nothing" : "a text";
    if (values.empty()) {
      values =
          p.min == -kAny && p.max == kAny ? "any integer" : fmt::format("{} … {}", p.min, p.max);
    }
    if (!p.same_as.empty()) values += fmt::format(", as {} when not given", p.same_as);
    print(fmt::format("      {:<10} {} ({})\n", p.name, p.description, values));
  }
  print("    standard points:\n");
  const auto quick = c.representative_points();
  for (const auto& point : c.standard_points()) {
    const bool representative = std::ranges::find(quick, point) != quick.end();
    print(fmt::format("      {}{}\n", lab::point_label(point), representative ? "  (quick)" : ""));
  }
}

Json json_of(const lab::Case& c, lab::EnvironmentProbe& probe) {
  Json providers = Json::array();
  for (const auto& provider : c.providers()) {
    for (const auto& platform : provider.platforms) {
      const auto& environment = probe(provider, platform);
      const auto why = why_not_here(environment, platform);
      providers.push_back(Json{
          {"id", provider.id},
          {"platform", platform},
          {"description", provider.description},
          {"available", !why},
          {"reason", why ? Json(*why) : Json()},
          {"interpreter", environment.interpreter.empty() ? Json() : Json(environment.interpreter)},
          {"versions", environment.versions},
          {"deterministic", provider.deterministic()},
          {"unequal_work", provider.unequal_work.empty() ? Json() : Json(provider.unequal_work)}});
    }
  }
  return {{"suite", c.suite()},
          {"case", c.name()},
          {"description", c.description()},
          {"baseline", c.baseline()},
          {"primary_metric", c.primary_metric().name},
          {"quick_points", c.representative_points()},
          {"standard_points", c.standard_points()},
          {"providers", providers}};
}

}  // namespace

int list(const ListArguments& a) {
  auto cases = all_cases();
  const auto names = OwnCases(cases).names(a.cases);
  lab::EnvironmentProbe probe(find_programs(), cases);
  for (const auto& name : names) cases.find(name);  // refuse unknown names before printing
  const auto wanted = [&](const lab::Case& c) {
    return names.empty() || std::ranges::find(names, c.name()) != names.end();
  };
  if (a.json) {
    Json all = Json::array();
    for (const auto& c : cases.all()) {
      if (wanted(*c)) all.push_back(json_of(*c, probe));
    }
    print(pretty_json(all) + "\n");
    return kFine;
  }
  std::string_view suite;
  for (const auto& c : cases.all()) {
    if (!wanted(*c)) continue;
    if (c->suite() != suite) print(fmt::format("{}{}\n", suite.empty() ? "" : "\n", c->suite()));
    suite = c->suite();
    print_case(*c, probe, !a.cases.empty());
  }
  return kFine;
}

}  // namespace assay::cli
