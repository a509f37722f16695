// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/record/case.h"

namespace assay::cases::chip {

// chip_gemm, chip_allreduce, chip_buffers. The chip is the one of examples/chip/default.toml; its
// hash is the cases' identity. There is no oracle: a simulation is held to closed forms and to
// other simulators by the engine's tests, and carries its payload's own check.
void add_cases(lab::CaseRegistry& cases);

}  // namespace assay::cases::chip
