// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows for the tests of the figures.

#include <string>

#include "lab/testing/example_rows.h"

namespace assay::lab {

// One measured call of `provider` on one machine with two cores.
inline Row example_row(const std::string& case_name, const Json& point, const std::string& provider,
                       const std::string& baseline, int round, double time) {
  Row r = testing_rows::example_row(
      {.provider = provider, .time = time, .round = round, .case_name = case_name, .order = 0});
  r.suite.clear();
  r.point = point;
  r.work.reset();
  r.metrics = {{"steady_time", time}};
  r.provenance = {};
  r.provenance.baseline = baseline;
  r.provenance.primary_metric = "steady_time";
  r.attempt_id = make_attempt_id(case_name, point, provider, r.platform, r.cores, round, 0);
  return r;
}

}  // namespace assay::lab
