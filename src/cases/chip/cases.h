// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/record/case.h"

namespace assay::cases::chip {

// chip_gemm, chip_allreduce, chip_buffers: simulated on the chip of examples/chip/default.toml,
// whose hash is the cases' identity; a log is held to laws that every right one keeps
// (certificates.h). chip_events: the simulator's kernel, timed.
void add_cases(lab::CaseRegistry& cases);

}  // namespace assay::cases::chip
