// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "cli/commands.h"
#include "cli/measure/llm_configs.h"

namespace assay::cli {

int bench_models(const LlmArguments& a) {
  if (!a.run.config.empty()) return run_each(a.run, llm_configured_runs(a.run, !a.no_sweep));
  if (!a.run.cases.empty())
    fail("names are those of a file: --config, beside '{}'", a.run.cases[0]);
  auto quick = a.run;
  quick.quick = true;
  quick.cases = {"llm_prefill", "llm_prefill_sequential", "llm_decode"};
  if (!a.no_sweep) quick.cases.emplace_back("llm_search");
  return run_each(quick, {quick});
}

}  // namespace assay::cli
