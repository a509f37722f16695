// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/config/json_field.h"

namespace assay::models::pt2 {

// Names for a program's results in the order of its flat list: "output" where there is one,
// "output.0", "output.1.key", … by the tree that forward() returns (tuples, lists, dicts, and what
// else has its keys written down). Where the tree is not told or does not have so many leaves:
// numbers.
std::vector<std::string> output_names(const JsonField& graph_module, std::size_t count);

// Adds the names of what one output of a call gives; none for None. Throws UserError for kinds that
// are not covered.
void add_result_names(const JsonField& output, std::vector<std::string>& names);

}  // namespace assay::models::pt2
