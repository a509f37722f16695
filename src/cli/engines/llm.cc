// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/llm.h"

#include <cstdio>

#include "base/error.h"
#include "cli/commands.h"
#include "models/init/model_sizes.h"
#include "models/init/write_model.h"
#include "tensor/dtype.h"

namespace assay::cli {

int language_model(const LlmArguments& a) {
  switch (a.action) {
    case LlmArguments::Action::kInit:
      return init_model(a);
    case LlmArguments::Action::kGenerate:
      return generate_tokens(a);
    case LlmArguments::Action::kExplain:
      return explain_model(a);
    case LlmArguments::Action::kTokenize:
      return tokenize(a);
    case LlmArguments::Action::kTrainTokenizer:
      return train_tokenizer(a);
  }
  throw InternalError("an action is one of its enumerators");
}

int init_model(const LlmArguments& a) {
  const auto family = models::family_from_name(a.family);
  models::WriteOptions options;
  options.dtype = dtype_from_name(a.dtype, "--dtype");
  options.seed = a.seed;
  options.progress = [](const std::string& path) { fmt::print(stderr, "{}\n", path); };
  const char* dtype = nullptr;
  if (options.dtype == DType::kBF16) dtype = "bfloat16";
  if (options.dtype == DType::kF16) dtype = "float16";
  if (options.dtype == DType::kF32) dtype = "float32";
  if (dtype == nullptr) fail("--dtype: expected bf16, f16 or f32, got '{}'", a.dtype);
  models::write_model(models::config_of_size(family, a.size, dtype), a.out, options);
  return kFine;
}

}  // namespace assay::cli
