// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values that flags of several commands take.

#include <string>

namespace assay::cli {

// "2%" or "0.02". Throws UserError naming `what`.
double parse_share(const std::string& text, const std::string& what);

}  // namespace assay::cli
