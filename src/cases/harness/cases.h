// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/record/case.h"

namespace assay::cases::harness {

// Cases about the laboratory itself: what they measure is known beforehand, so that what the
// laboratory says of it can be held against the truth. `assay run all` leaves them out.
void add_cases(lab::CaseRegistry& cases);

inline constexpr const char* kSuite = "harness";

}  // namespace assay::cases::harness
