// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a model wants to be sampled.

#include <string>

#include "models/session/sampler.h"

namespace assay::models {

// What DIR/generation_config.json says: greedy unless it has do_sample; then temperature (else 1),
// top_k, top_p, min_p; repetition_penalty in any case. Where there is no such file, the defaults.
// Throws UserError that names file and field: of a wrong type or size, or one that would change
// what is said and is not supported (beams, …).
SamplingOptions read_sampling_config(const std::string& folder);

}  // namespace assay::models
