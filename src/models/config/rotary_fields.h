// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a config.json says of rotary embeddings, in the newer and the older form. Throws UserError
// that names the file and the field.

#include <vector>

#include "models/config/config_fields.h"
#include "models/config/model_config.h"

namespace assay::models {

// Beyond any context.
inline constexpr std::int64_t kMostPositions = std::int64_t{1} << 27;

// One for all layers: rope_parameters, or rope_theta with rope_scaling beside it (older files).
RotaryConfig read_common_rotary(ConfigFields& fields);

// Of layers that see all keys first, then of those with a window.
std::vector<RotaryConfig> read_rotaries_by_layer_type(ConfigFields& fields, Family family);

}  // namespace assay::models
