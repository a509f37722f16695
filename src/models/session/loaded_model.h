// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A folder with a model in it, ready to be asked.

#include <string>

#include "compiler/choose/compile.h"
#include "models/session/session.h"

namespace assay::models {

struct LoadedModel {
  // Throws UserError that names the file, and the field or tensor.
  explicit LoadedModel(const std::string& folder);

  // With the program that is good without a search (with one: searched_program.h). The model lives
  // as long.
  Session session(const GraphLimits& limits, const compiler::Runtime& runtime,
                  const compiler::CompileOptions& options = {}) const;

  ModelConfig config;
  ModelWeights weights;
};

}  // namespace assay::models
