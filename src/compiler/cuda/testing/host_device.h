// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Generated kernels, run without a device: their sources are C++ behind host_shim.txt, compiled by
// the compiler that built this program, with threads as fibers. Slow, and exact about indices,
// barriers and shuffles: what is wrong is found before a device is there.

#include <memory>

#include "compiler/cuda/source/kernel_source.h"
#include "compiler/run/executor.h"

namespace assay::compiler::cuda {

// A runtime of such kernels. What is prepared together is compiled together, when one of it is
// first run. Throws InternalError with the compiler's words.
Runtime host_device_runtime(SourceOptions options = {.multiprocessors = 2});
// Whole programs, as a device runs them: with bundles, over memory that is planned for those.
Runtime host_program_runtime(SourceOptions options = {.multiprocessors = 2});

}  // namespace assay::compiler::cuda
