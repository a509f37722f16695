// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/testing/model_folder.h"

#include "base/error.h"
#include "base/philox.h"
#include "compiler/cpu/cpu_runtime.h"

namespace assay::models {

ModelFolder::ModelFolder(Family family, const WriteOptions& options)
    : ModelFolder(config_of_size(family, "tiny", "float32"), options) {}
ModelFolder::ModelFolder(const Json& config, const WriteOptions& options)
    : directory_("assay-model") {
  write_model(config, path(), options);
}

Session session_of(const LoadedModel& model, const GraphLimits& limits, int threads) {
  return model.session(limits, compiler::cpu_runtime(threads));
}

std::vector<std::int64_t> some_tokens(std::int64_t vocab, std::size_t count, std::uint64_t seed) {
  const Philox stream(seed);
  std::vector<std::int64_t> tokens;
  for (std::size_t i = 0; i < count; ++i) {
    tokens.push_back(
        static_cast<std::int64_t>(uniform_below(stream[i], static_cast<std::uint64_t>(vocab))));
  }
  return tokens;
}

std::string refusal_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const UserError& e) {
    return e.what();
  }
  return "nothing was refused";
}

}  // namespace assay::models
