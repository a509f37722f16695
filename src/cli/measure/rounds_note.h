// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay::cli {

// What so many rounds can show, said before they are measured: in per cent where this machine is
// calibrated.
std::string what_rounds_can_show(int rounds);

}  // namespace assay::cli
