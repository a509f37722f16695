// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/predict.h"

#include <algorithm>
#include <map>
#include <string>

namespace assay::lab {
namespace {

// What the parts of an attempt take that nobody asked for: start, inputs, output, judge.
constexpr double kAroundS = 0.5;
// Of work (operations, bytes, pairs) that a provider of ordinary quality does in a second.
constexpr double kWorkPerS = 2e9;

double predicted_s(const PointPlan& at, const RunRequest& request) {
  double work = 0;
  for (const auto& [name, amount] : at.definition->work(at.point)) work += amount;
  const double call_s = work / kWorkPerS;
  const auto& settings = request.settings;
  const double attempt_s = kAroundS + request.settle_s + (1 + settings.warm_up_calls) * call_s +
                           std::max(settings.steady_s, settings.batches * call_s);
  return attempts_at(at, request) * std::min(request.time_limit_s, attempt_s);
}

bool ends_point(const Row& row) {
  const auto& stopping = row.provenance.stopping;
  return stopping && stopping->decision != "continue" && stopping->decision != "budget";
}

}  // namespace

std::vector<PointWork> predicted_work(const Plan& plan, const RunRequest& request,
                                      std::span<const Row> rows) {
  std::map<std::string, PointWork> by_name;
  const auto name = [](std::string_view case_name, const Json& point) {
    return std::string(case_name) + canonical_json(point);
  };
  for (const auto& row : rows) {
    auto& work = by_name[name(row.case_name, row.point)];
    work.done += is_void(row.status) ? 0 : 1;
    work.over = work.over || (request.precision > 0 && ends_point(row));
  }
  std::vector<PointWork> list;
  for (const auto& at : plan.points) {
    auto work = by_name[name(at.definition->name(), at.point)];
    work.predicted_s = predicted_s(at, request);
    work.attempts = attempts_at(at, request);
    work.over = work.over || work.done >= work.attempts;
    list.push_back(work);
  }
  return list;
}

}  // namespace assay::lab
