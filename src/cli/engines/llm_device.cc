// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/llm_device.h"

#include <cstdlib>

#include "base/cache_folder.h"
#include "compiler/cuda/cuda_runtime.h"

namespace assay::cli {

compiler::Runtime llm_runtime(const LlmArguments&) {
  const char* value = std::getenv("ASSAY_COMPILER_SEQUENTIAL");  // NOLINT(concurrency-mt-unsafe)
  compiler::cuda::CudaOptions options;
  options.cache = cache_folder() + "/cubins";
  options.sequential = value != nullptr && std::string_view(value) == "1";
  return compiler::cuda::cuda_runtime(options);
}
// A device's ceilings take longer to measure than a model to explain: `assay doctor --peaks`.
std::optional<compiler::MachineLimits> llm_limits(const LlmArguments&) { return std::nullopt; }

}  // namespace assay::cli
