// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/show/show_program.h"

namespace assay::cli {

// What this machine reaches with so many threads, measured now, in a second or two.
compiler::MachineLimits measured_limits(int threads);

}  // namespace assay::cli
