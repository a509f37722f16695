// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// `assay einsum` where a GPU is asked for: assay starts this with its own command line.
#include <variant>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  using namespace assay::cli;
  return run_program(argc, argv, [argv](const Command& command) {
    const auto* arguments = std::get_if<EinsumArguments>(&command);
    if (arguments == nullptr) assay::fail("assay-einsum-cuda serves `assay einsum` alone");
    return contract(*arguments, argv);
  });
}
