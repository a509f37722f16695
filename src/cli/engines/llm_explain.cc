// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/engines/llm.h"
#include "cli/engines/llm_device.h"
#include "cli/program.h"
#include "models/session/loaded_model.h"

namespace assay::cli {

int explain_model(const LlmArguments& a) {
  const models::LoadedModel model(a.model);
  if (a.new_tokens < 1) fail("--new is at least 1, not {}", a.new_tokens);
  if (a.cached_tokens < 0) fail("--cached is at least 0, not {}", a.cached_tokens);
  models::GraphLimits limits;
  limits.chunk = a.new_tokens;
  limits.context = a.new_tokens + a.cached_tokens;
  auto session = model.session(limits, llm_runtime(a), compiler::options_from_environment());
  const auto& program = session.executor().program();
  compiler::ProgramFacts facts;
  facts.symbols = {{"s", a.new_tokens}, {"p", a.cached_tokens}};
  facts.step_seconds = session.step_seconds(a.new_tokens, a.cached_tokens);
  facts.units = session.executor().kernel_units(facts.symbols);
  facts.limits = llm_limits(a);
  if (!a.dot.empty()) write_file_atomically(a.dot, compiler::as_dot(program));
  if (!a.trace.empty()) write_file_atomically(a.trace, compiler::as_trace(program, facts));
  print(a.json ? pretty_json(compiler::explained_as_json(program, facts)) + "\n"
               : compiler::explained(program, facts));
  return kFine;
}

}  // namespace assay::cli
