// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows in the words of recipes (lab/record/figure_recipe.h). Rows may be anyone's: what is absent
// or of another type is not known, never an error.

#include <string>
#include <vector>

#include "lab/record/row.h"

namespace assay::lab {

// "measured", "simulated" or "closed form". Rows without that field, older ones and those of other
// tools, are measured.
std::string origin_of(const Row& row);

// A parameter of the point, "provider", a metric, or "intensity"; null where the row has no such.
Json quantity(const Row& row, const std::string& name);
// Several, as a list.
Json quantities(const Row& row, const std::vector<std::string>& names);
// A quantity as people read it; "–" for null.
std::string in_words(const Json& value);
// "log, n = 64": values that speak for themselves (names) stand alone, those that a row has not are
// not told.
std::string describe(const Row& row, const std::vector<std::string>& names);

// Whether each quantity that `only` names has the value, or one of the values, given there.
bool takes_part(const Row& row, const Json& only);

}  // namespace assay::lab
