// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/graph/graph_tensor.h"

namespace assay::models::pt2 {

// The error function of f32 or f64, and 1 less that: to a few units in the last place of the
// result, of the latter's tail to x² of them.
compiler::GraphTensor erf_of(const compiler::GraphTensor& x);
compiler::GraphTensor erfc_of(const compiler::GraphTensor& x);

}  // namespace assay::models::pt2
