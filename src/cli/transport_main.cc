// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// `assay transport`: the engine with its file formats and MPI, which `assay` itself does not link.
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <exception>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/transport_commands.h"

namespace assay::cli {
namespace {

std::atomic<bool> interrupt_flag = false;

int dispatch(const TransportArguments& a) {
  if (a.action == "inspect") return transport_inspect(a);
  if (a.action == "converge") return transport_converge(a);
  if (a.action == "database") return transport_database(a);
  check(a.action == "run" || a.action == "scan",
        "every action of `assay transport` has a function");
  return transport_run(a);
}

int complain(const std::exception& e, int status) {
  std::fprintf(stderr, "assay: %s\n", e.what());
  return status;
}

}  // namespace

int transport_main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  try {
    const auto parsed = parse_arguments(argc, argv);
    if (const int* status = std::get_if<int>(&parsed)) return *status;
    const auto* arguments = std::get_if<TransportArguments>(&std::get<Command>(parsed));
    if (arguments == nullptr) fail("this program serves 'assay transport' only");
    const int status = dispatch(*arguments);
    if (std::fflush(stdout) != 0) fail("cannot write to standard output");
    return status;
  } catch (const EnvironmentError& e) {
    return complain(e, kEnvironmentRefused);
  } catch (const UserError& e) {
    return complain(e, kBadInput);
  } catch (const std::exception& e) {
    return complain(e, 70);  // a bug of ours; the message says where
  }
}

const std::atomic<bool>& interrupted() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupt_flag = true; };
  action.sa_flags = SA_RESETHAND;  // the second one kills
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupt_flag;
}

}  // namespace assay::cli

int main(int argc, char** argv) { return assay::cli::transport_main(argc, argv); }
