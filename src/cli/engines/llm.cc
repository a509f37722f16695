// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/llm.h"

#include <cstdio>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/installation.h"
#include "models/init/init_model.h"
#include "tensor/dtype.h"

namespace assay::cli {

int language_model(const LlmArguments& a, char** argv) {
  if (a.device != "cpu" && a.device != "cuda") fail("--device is cpu or cuda, not '{}'", a.device);
  if (a.device == "cuda") become_program("assay-llm-cuda", argv);
  switch (a.action) {
    case LlmArguments::Action::kInit:
      return init_model(a);
    case LlmArguments::Action::kGenerate:
      return generate_tokens(a);
    case LlmArguments::Action::kChat:
      return chat(a);
    case LlmArguments::Action::kPrompt:
      return show_prompt(a);
    case LlmArguments::Action::kExplain:
      return explain_model(a);
    case LlmArguments::Action::kTokenize:
      return tokenize(a);
    case LlmArguments::Action::kTrainTokenizer:
      return train_tokenizer(a);
    case LlmArguments::Action::kBench:
      return bench_models(a);
  }
  throw InternalError("an action is one of its enumerators");
}

int init_model(const LlmArguments& a) {
  models::WriteOptions options;
  options.dtype = dtype_from_name(a.dtype, "--dtype");
  options.seed = a.seed;
  options.progress = [](const std::string& path) { fmt::print(stderr, "{}\n", path); };
  models::init_model(models::family_from_name(a.family), a.size, a.out, options);
  return kFine;
}

}  // namespace assay::cli
