// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/record/case.h"

namespace assay::cases::einsum {

// einsum_pair, einsum_network, decompose_cp, decompose_tucker, mp2_energy.
void add_cases(lab::CaseRegistry& cases);

}  // namespace assay::cases::einsum
