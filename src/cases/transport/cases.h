// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/record/case.h"

namespace assay::cases::transport {

// transport_solve, transport_scan, transport_strong_scaling, transport_prepared_reuse.
void add_cases(lab::CaseRegistry& cases);

}  // namespace assay::cases::transport
