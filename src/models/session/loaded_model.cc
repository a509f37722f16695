// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/session/loaded_model.h"

namespace assay::models {

LoadedModel::LoadedModel(const std::string& folder)
    : config(read_model_config(folder)), weights(config, folder) {}

Session LoadedModel::session(const GraphLimits& limits, const compiler::Runtime& runtime,
                             const compiler::CompileOptions& options) const {
  return {config, weights, limits,
          compiler::compile_default(model_graph(config, weights, limits), options), runtime};
}

}  // namespace assay::models
