// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// `assay llm` where a GPU is asked for: assay starts this with its own command line.
#include <variant>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/engines/llm.h"
#include "cli/program.h"
#include "kernels/cuda/device.h"

namespace assay::cli {
namespace {

int on_device(const LlmArguments& a) {
  switch (a.action) {
    case LlmArguments::Action::kGenerate:
      return generate_tokens(a);
    case LlmArguments::Action::kChat:
      return chat(a);
    case LlmArguments::Action::kExplain:
      return explain_model(a);
    default:
      fail("assay-llm-cuda serves `assay llm generate`, `chat` and `explain`");
  }
}

}  // namespace
}  // namespace assay::cli

int main(int argc, char** argv) {
  using namespace assay;
  return cli::run_program(argc, argv, [](const cli::Command& command) {
    const auto* arguments = std::get_if<cli::LlmArguments>(&command);
    if (arguments == nullptr) fail("assay-llm-cuda serves `assay llm` alone");
    try {
      return cli::on_device(*arguments);
    } catch (const kernels::cuda::DeviceError& e) {
      throw EnvironmentError(fmt::format("--device cuda: {}", e.what()));
    }
  });
}
