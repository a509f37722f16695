// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay::models::jinja {

// As Python writes a float: the shortest digits that read back to it, "1.0", "1e+16", "nan".
std::string number_text(double number);

}  // namespace assay::models::jinja
