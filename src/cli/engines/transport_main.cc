// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// `assay transport`: the engine with its file formats and MPI, which `assay` itself does not link.
#include <signal.h>

#include <atomic>

#include "base/error.h"
#include "cli/arguments/arguments.h"
#include "cli/engines/transport_commands.h"
#include "cli/program.h"

namespace assay::cli {
namespace {

std::atomic<bool> interrupt_flag = false;

// Options typed before the name of an action are read, even if they mean nothing to it.
void refuse_unused(const TransportArguments& a) {
  using Action = TransportArguments::Action;
  const bool runs = a.action == Action::kRun || a.action == Action::kScan;
  if (a.plot && !runs) fail("'{}' draws nothing: --plot", name_of(a.action));
  if (!a.output.empty() && !runs && a.action != Action::kDatabase) {
    fail("'{}' writes no file: --output '{}'", name_of(a.action), a.output);
  }
}

int dispatch(const TransportArguments& a) {
  refuse_unused(a);
  using Action = TransportArguments::Action;
  switch (a.action) {
    case Action::kRun:
    case Action::kScan:
      return transport_run(a);
    case Action::kInspect:
      return transport_inspect(a);
    case Action::kConverge:
      return transport_converge(a);
    case Action::kDatabase:
      return transport_database(a);
  }
  throw InternalError("an action is one of its enumerators");
}

}  // namespace

const std::atomic<bool>& interrupted() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupt_flag = true; };
  action.sa_flags = SA_RESETHAND;  // the second one kills
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupt_flag;
}

}  // namespace assay::cli

int main(int argc, char** argv) {
  using namespace assay::cli;
  return run_program(argc, argv, [](const Command& command) {
    const auto* arguments = std::get_if<TransportArguments>(&command);
    if (arguments == nullptr) assay::fail("this program serves 'assay transport' only");
    return dispatch(*arguments);
  });
}
