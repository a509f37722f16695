// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/record/case.h"
#include "tensor/view.h"

namespace assay::lab {

// How far an output is from its expectation.
struct Deviation {
  // The greater of max |out − ref| / (atol + rtol·|ref|) and, where it is asked for, the root mean
  // square of out − ref over its limit: passes iff ≤ 1.
  double error = 0;
  double rms = 0;      // of finite pairs
  double max_abs = 0;  // over finite pairs
  double max_rel = 0;
  std::optional<double> ulp_p50, ulp_max;  // in units of the output's last place; floats only
  std::int64_t nan_count = 0;              // NaN in the output where the answer has none
  std::int64_t poison_count = 0;           // elements that still hold the poison
  std::int64_t elements = 0;
  // The worst element, for the message: its row-major index in the output, and both values.
  std::int64_t worst_index = -1;
  double worst_out = 0, worst_ref = 0;
  bool is_mean_wrong = false;  // the root mean square is what is worst

  bool passed() const { return error <= 1; }
};

// Compares what the expectation gives. The view has the expectation's shape and dtype.
// NaN equals NaN, an infinity equals itself; anything else against them is infinitely wrong.
Deviation compare(const Expectation& expected, const TensorView& output);

// Largest |out − b|/|b| over what the expectation gives, b being the baseline's values;
// |out| where b is zero, infinite where only one of the two is a number.
double difference_from_baseline(const Expectation& expected, const TensorView& output);

}  // namespace assay::lab
