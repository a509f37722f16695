// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/record/request.h"

namespace assay::lab {

// Throws UserError that names the flag for values that no run can have.
void check_request(const RunRequest& request);

}  // namespace assay::lab
