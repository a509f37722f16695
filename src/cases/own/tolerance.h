// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace assay::cases::own {

struct Tolerance {
  double rtol = 0, atol = 0;
};

// How far an output of this dtype may be from these values where each is the result of at most
// `length` additions. With the unit roundoff u of the dtype, every operation on an element may cost
// a few u of it: rtol = 8u. Where terms of both signs are added, an element may be far smaller than
// what was added up: of k terms of one size s the partial sums grow like s·√j, each is rounded by u
// of itself, and together these are u·s·k, which is √k of the typical element s·√k. So
// atol = 8u·√k·(root mean square of the values). Integers and bool are exact.
Tolerance derived_tolerance(DType dtype, std::int64_t length, std::span<const double> values);

}  // namespace assay::cases::own
