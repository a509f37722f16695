// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fast kernels of compiler/cpu as a runtime of programs.

#include "compiler/run/executor.h"

namespace assay::compiler {

// Kernels run with at most `threads` threads at once.
Runtime cpu_runtime(int threads);

}  // namespace assay::compiler
