// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Models to make: the sizes of known ones, and small ones of the same build.

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "models/config/model_config.h"

namespace assay::models {

// "tiny", "160m", …, the smallest first.
std::vector<std::string> size_names(Family family);

// A config.json. dtype: "float32", "bfloat16" or "float16". Throws UserError that lists the sizes.
Json config_of_size(Family family, std::string_view size, std::string_view dtype);

}  // namespace assay::models
