// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/cores.h"
#include "cli/engines/llm_device.h"
#include "cli/engines/machine_limits.h"
#include "compiler/cpu/cpu_runtime.h"

namespace assay::cli {

compiler::Runtime llm_runtime(const LlmArguments& a) {
  return compiler::cpu_runtime(threads_or_all(a.threads));
}
std::optional<compiler::MachineLimits> llm_limits(const LlmArguments& a) {
  return measured_limits(threads_or_all(a.threads));
}

}  // namespace assay::cli
