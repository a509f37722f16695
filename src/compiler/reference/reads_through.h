// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/graph/view.h"

namespace assay::compiler {

// Whether `composed` reads, element by element, what `outer` reads of a tensor of inner.shape, each
// element of which `inner` finds somewhere else. By counting, not by reasoning about strides: the
// interpreter reads through views that compose() made, and so must not believe it. Every element of
// small views is looked at; of large ones all corners, and some thousands in between.
bool reads_through(const FixedView& composed, const FixedView& outer, const FixedView& inner);

}  // namespace assay::compiler
