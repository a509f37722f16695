// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Small models in folders of their own, for tests.

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "models/init/model_sizes.h"
#include "models/init/write_model.h"
#include "models/session/loaded_model.h"

namespace assay::models {

// A tiny model of a family on disk, deleted at the end.
class ModelFolder {
 public:
  explicit ModelFolder(Family family, const WriteOptions& options = {.dtype = DType::kF32});
  // Not so tiny, or otherwise.
  ModelFolder(const Json& config, const WriteOptions& options);

  std::string path() const { return directory_.path() + "/model"; }
  std::string file(std::string_view name) const { return path() + "/" + std::string(name); }

 private:
  TemporaryDirectory directory_;
};

Session session_of(const LoadedModel& model, const GraphLimits& limits, int threads = 2);

// Tokens of a vocabulary, by chance.
std::vector<std::int64_t> some_tokens(std::int64_t vocab, std::size_t count,
                                      std::uint64_t seed = 1);

// What an act is refused with; "nothing was refused" where it is not.
std::string refusal_of(const std::function<void()>& act);

}  // namespace assay::models
