// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/graph/graph_tensor.h"

namespace assay::models::pt2 {

// The error function of f32 or f64, to a few units in the last place of 1.
compiler::GraphTensor erf_of(const compiler::GraphTensor& x);

}  // namespace assay::models::pt2
