// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/bundle.h"

#include <set>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/program.h"
#include "cli/rows/selections.h"
#include "lab/beside/latest.h"
#include "lab/decide/history.h"

namespace assay::cli {
namespace {

// The point of the rows that is meant: that of the case we know completed from its representative
// point, or else the only one that has the values given.
Json point_of(const BundleArguments& a, const std::vector<lab::Row>& rows) {
  const Json given = a.point.empty() ? Json::object() : parse_json(a.point, "--point");
  if (!given.is_object()) fail("--point: expected a JSON object, got '{}'", a.point);
  const auto cases = all_cases();
  std::set<Json> points;
  for (const auto& row : rows) {
    if (row.case_name == a.case_name && lab::point_matches(row.point, given)) {
      points.insert(row.point);
    }
  }
  if (points.empty()) fail("no rows of this case at such a point: '{}'", a.case_name);
  if (points.size() == 1) return *points.begin();
  for (const auto& known : cases.all()) {
    if (known->name() != a.case_name) continue;
    const auto representative = known->representative_points();
    if (!representative.empty()) {
      const auto point = known->complete_point(given, representative.front());
      if (points.contains(point)) return point;
    }
  }
  fail("{} points of this case have rows; name more of its values by --point: '{}'", points.size(),
       a.case_name);
}

}  // namespace

int bundle(const BundleArguments& a) {
  const auto rows = read_rows(a.sources);
  const auto evidence =
      lab::evidence_bundle(rows, lab::latest_rows(rows), {a.case_name, point_of(a, rows)});
  const auto text = a.json ? pretty_json(evidence) + "\n" : lab::bundle_markdown(evidence);
  put_text(a.out, text);
  return kFine;
}

}  // namespace assay::cli
