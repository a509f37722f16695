// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows for the tests of the figures.

#include <string>

#include "lab/record/row.h"

namespace assay::lab {

// One measured call of `provider` on one machine with two cores.
inline Row example_row(const std::string& case_name, const Json& point, const std::string& provider,
                       const std::string& baseline, int round, double time) {
  Row r;
  r.run_id = "20260101T120000.000000Z-abc1234";
  r.case_name = case_name;
  r.point = point;
  r.provider = provider;
  r.platform = "cpu";
  r.machine = machine_from_json(Json{{"fingerprint", "0123456789abcdef"}});
  r.cores = 2;
  r.round = round;
  r.attempt_id = make_attempt_id(case_name, point, provider, r.platform, r.cores, round, 0);
  r.metrics["steady_time"] = time;
  r.provenance =
      provenance_from_json(Json{{"baseline", baseline}, {"primary_metric", "steady_time"}});
  return r;
}

}  // namespace assay::lab
