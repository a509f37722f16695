// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// print_logits MODEL TOKENS CHUNK OUT: what the model in folder MODEL says of each of TOKENS
// ("1,2,3"), read CHUNK at a time, twice, as tensors "first" and "second" of a .safetensors file.
#include <charconv>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "compiler/cpu/cpu_runtime.h"
#include "models/session/loaded_model.h"
#include "tensor/safetensors.h"

namespace {

using namespace assay;          // NOLINT: a program of one file
using namespace assay::models;  // NOLINT

std::vector<std::int64_t> tokens_from(const std::string& text) {
  std::vector<std::int64_t> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    std::int64_t token = -1;
    std::from_chars(text.data() + at, text.data() + end, token);
    tokens.push_back(token);
    at = end + 1;
  }
  return tokens;
}

int run(const std::vector<std::string>& words) {
  if (words.size() != 4) fail("print_logits MODEL TOKENS CHUNK OUT");
  const LoadedModel model(words[0]);
  const auto tokens = tokens_from(words[1]);
  GraphLimits limits;
  limits.context = static_cast<std::int64_t>(tokens.size());
  limits.chunk = std::min<std::int64_t>(std::stoll(words[2]), limits.context);
  limits.all_logits = true;
  auto session =
      model.session(limits, compiler::cpu_runtime(2), compiler::options_from_environment());
  std::vector<std::pair<std::string, TensorView>> views;
  std::vector<std::vector<float>> kept;
  kept.reserve(2);
  for (const char* name : {"first", "second"}) {
    const auto logits = session.extend(tokens);
    kept.emplace_back(logits.begin(), logits.end());
    views.emplace_back(name, TensorView(DType::kF32, kept.back().data(),
                                        Shape({limits.context, model.config.vocab})));
    session.reset();
  }
  write_safetensors(words[3], views);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "print_logits: %s\n", e.what());
    return 2;
  }
}
