// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/llm/block_point.h"
#include "cases/llm/fusion_point.h"
#include "compiler/graph/graph.h"

namespace assay::cases::llm {

// The graphs of the cases in the compiler's front end: inputs under their names, outputs "y" and,
// of a layer, its caches "k" and "v". 16-bit types are computed in f32 and rounded where one part
// of a layer hands its results to the next.
compiler::Graph fusion_graph(const FusionPoint& point);
compiler::Graph block_graph(const BlockPoint& point);

}  // namespace assay::cases::llm
