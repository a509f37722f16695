// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of `assay einsum`, split by what they do; contract() of commands.h is the door.

#include "cli/arguments/arguments.h"
#include "einsum/einsum.h"

namespace assay::cli {

int decompose_cp(const EinsumArguments& arguments);
int decompose_tucker(const EinsumArguments& arguments);
int decompose_train(const EinsumArguments& arguments);
int mp2(const EinsumArguments& arguments);

// An engine with the calibration of this machine, if there is one, and orders that persist.
einsum::EngineOptions engine_options(const EinsumArguments& arguments);

}  // namespace assay::cli
