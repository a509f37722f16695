// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/gathering.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace assay::lab {
namespace {

std::string point_name(std::string_view case_name, const Json& point) {
  return std::string(case_name) + " " + canonical_json(point);
}

}  // namespace

Gathering::Gathering(const RunContext& context, const Plan& plan, const RunRequest& request,
                     std::string run_id, JournalWriter journal, std::vector<Row> known)
    : context_(context),
      run_id_(std::move(run_id)),
      journal_(std::move(journal)),
      rows_of_point_(plan.points.size()),
      disturbances_(request.max_foreign) {
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    points_[point_name(plan.points[i].definition->name(), plan.points[i].point)] = i;
  }
  for (auto& row : known) keep(std::move(row));
}

std::vector<Row> Gathering::rows_at(std::size_t point) const {
  std::vector<Row> rows;
  for (const auto row : rows_of_point_.at(point)) rows.push_back(rows_[row]);
  return rows;
}

std::size_t Gathering::index_of(const std::string& case_name, const Json& point) const {
  const auto it = points_.find(point_name(case_name, point));
  if (it == points_.end()) {
    fail("the run has no such point of '{}': {}", case_name, canonical_json(point));
  }
  return it->second;
}

void Gathering::take(std::vector<Row> rows, Look& look) {
  for (auto& row : rows) {
    if (row.run_id != run_id_ || !known_.insert(row.attempt_id).second) continue;
    if (!is_void(row.status)) {
      look.attempted.push_back(
          {index_of(row.case_name, row.point), row.provenance.duration_s.value_or(0)});
    }
    row.order = next_order_++;
    taken_.push_back(std::move(row));
  }
}

void Gathering::write() {
  if (taken_.empty()) return;
  journal_.append(taken_);
  if (context_.on_rows) context_.on_rows(taken_);
  for (auto& row : taken_) {
    for (const auto& line : disturbances_.notice(row)) context_.progress->note(line);
    context_.progress->finished(row);
    keep(std::move(row));
  }
  taken_.clear();
}

void Gathering::keep(Row row) {
  known_.insert(row.attempt_id);
  next_order_ = std::max(next_order_, row.order + 1);
  const auto at = points_.find(point_name(row.case_name, row.point));
  if (at != points_.end()) rows_of_point_[at->second].push_back(rows_.size());
  rows_.push_back(std::move(row));
}

}  // namespace assay::lab
