// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "einsum/kernels/counters.h"
#include "einsum/kernels/workspace.h"
#include "einsum/lower/lower.h"

namespace assay::einsum {

// c = alpha·Σ a·b + beta·c as the step was lowered. T is the dtype's type. c overlaps nothing; with
// beta 0 it is not read. Allocates the step's workspace and nothing else of size.
template <typename T>
void run_pair(const Lowered& step, const T* a, const T* b, T* c, T alpha, T beta, int threads,
              Workspace& workspace, Counters& counters);

}  // namespace assay::einsum
