// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/record/case.h"

namespace assay::cases::semiring {

// semiring_matmul, ell_edge_aggregate, dense_matmul.
void add_cases(lab::CaseRegistry& cases);

}  // namespace assay::cases::semiring
