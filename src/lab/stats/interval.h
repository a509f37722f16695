// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::lab {

struct Interval {
  double low = 0, high = 0;
  double coverage = 0;  // exact, at least the confidence asked for
};

}  // namespace assay::lab
