// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether runs with `--precision` or `--budget` reached what was asked.

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "lab/record/row.h"

namespace assay::lab {

// How the measuring of one point of one run ended, from provenance.stopping of its rows (see
// docs/row.schema.json): the last that any of them carries.
struct PointStop {
  std::string run_id, case_name;
  Json point;
  StopRecord stopping;
  bool met() const { return stopping.decision == "met"; }
};
// In the order of runs, cases and points; empty for runs that did not ask.
std::vector<PointStop> stops_of(std::span<const Row> rows);

// One line for people: how many points reached the target, and one for each that did not, with what
// it did reach and why it ended.
std::vector<std::string> stopping_lines(std::span<const PointStop> stops);

}  // namespace assay::lab
