// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/run_plan.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "lab/record/status.h"

namespace assay::cli {

void print_plan(const lab::Plan& plan) {
  for (const auto& at : plan.points) {
    std::fputs(fmt::format("{} {}\n", at.definition->name(), lab::point_label(at.point)).c_str(),
               stdout);
    for (const auto& contender : at.contenders) {
      if (!contender.refused) continue;
      std::fputs(fmt::format("  {:<16} {} ({}): {}\n", contender.name,
                             lab::name_of(contender.refused->status), contender.refused->why.code,
                             contender.refused->why.message)
                     .c_str(),
                 stdout);
    }
    for (const auto& contender : at.contenders) {
      if (contender.refused || !contender.provider.deterministic()) continue;
      std::fputs(fmt::format("  {:<16} once, deterministic\n", contender.name).c_str(), stdout);
    }
    for (std::size_t round = 0; round < at.order.size(); ++round) {
      std::string line = fmt::format("  round {:<3}", round + 1);
      for (const int i : at.order[round]) {
        line += fmt::format(" {:<16}", at.contenders[static_cast<std::size_t>(i)].name);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      std::fputs((line + "\n").c_str(), stdout);
    }
  }
  std::fputs(fmt::format("{} attempts at {} points\n", plan.attempts, plan.points.size()).c_str(),
             stdout);
}

Json plan_json(const lab::Plan& plan) {
  Json points = Json::array();
  for (const auto& at : plan.points) {
    Json rounds = Json::array(), refused = Json::array();
    for (const auto& order : at.order) {
      Json round = Json::array();
      for (const int i : order) round.push_back(at.contenders[static_cast<std::size_t>(i)].name);
      rounds.push_back(std::move(round));
    }
    for (const auto& contender : at.contenders) {
      if (!contender.refused) continue;
      refused.push_back(Json{{"provider", contender.name},
                             {"platform", contender.platform},
                             {"status", lab::name_of(contender.refused->status)},
                             {"code", contender.refused->why.code},
                             {"message", contender.refused->why.message}});
    }
    points.push_back(Json{{"case", at.definition->name()},
                          {"point", at.point},
                          {"rounds", rounds},
                          {"refused", refused}});
  }
  return {{"attempts", plan.attempts}, {"points", points}};
}

}  // namespace assay::cli
