// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/record/case.h"
#include "lab/record/row_parts.h"
#include "lab/record/status.h"

namespace assay::lab {

struct Judgement {
  // ok; wrong_result (code value, nan, stale, shape); or failed (no_output) when the file cannot be
  // read as tensors at all.
  Status status = Status::kOk;
  std::string code, message;
  Fidelity fidelity;  // the row's block
  // Largest |out − b|/|b| over what the expectations say of the baseline's values b; of b = 0,
  // |out|. Nothing where they say nothing. No part of the verdict.
  std::optional<double> from_baseline;
};

// Holds a worker's output file against the right answer. `other_sets` gives the answers for the
// input sets of the earlier calls: an output that equals one of those was remembered, not computed.
// A certificate that says what is wrong makes the result wrong. Where nothing is expected and there
// is no certificate, nobody has judged: the status is ok, and the fidelity says "no_oracle".
Judgement judge(const std::vector<Expectation>& expected, const std::string& output_file,
                const std::function<const std::vector<Expectation>&(int set)>& other_sets,
                const std::optional<Certificate>& certificate = {});

}  // namespace assay::lab
