// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fast kernels of compiler/cpu as a runtime of programs.

#include "compiler/run/executor.h"

namespace assay::compiler {

// Kernels run with at most `threads` threads at once. Throws UserError where ASSAY_BF16_UNIT names
// a unit that is none, or that the processor does not have.
Runtime cpu_runtime(int threads);

}  // namespace assay::compiler
