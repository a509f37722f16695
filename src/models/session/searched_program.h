// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fastest program that a search finds for a model.
//
// Layers of one kind have the same kernels, and choices are remembered by what is computed: what is
// found for the first layers of each kind is what would be found for all. Candidates are programs
// of a model that has those alone, so that they are verified and timed in seconds, whatever the
// size.

#include "compiler/choose/search.h"
#include "models/session/loaded_model.h"

namespace assay::models {

struct SearchedProgram {
  compiler::Program program;     // of the whole model
  compiler::SearchResult found;  // of its first layers
};
// Times are those of one token behind others, unless options.symbols says otherwise. Throws as
// compiler::search() and model_graph() do.
SearchedProgram searched_program(const LoadedModel& model, const GraphLimits& limits,
                                 const compiler::Runtime& runtime, compiler::SearchOptions options);

}  // namespace assay::models
