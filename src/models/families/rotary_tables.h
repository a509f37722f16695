// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cosines and sines of the angles by which positions turn pairs of a head.

#include "models/config/model_config.h"
#include "tensor/tensor.h"

namespace assay::models {

// Turns of one position for each of width/2 pairs. Computed in f32, as models are trained with
// them; a pair that does not turn has 0.
std::vector<float> rotary_frequencies(const RotaryConfig& rotary, std::int64_t width);

struct RotaryTables {
  Tensor cosine, sine;  // f32 [positions, width / 2]
};
// Of positions 0, 1, …; an angle is position · frequency, rounded to f32.
RotaryTables rotary_tables(const RotaryConfig& rotary, std::int64_t width, std::int64_t positions);

}  // namespace assay::models
