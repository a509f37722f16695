// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <cstdio>
#include <exception>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/commands.h"

namespace {

struct Dispatch {
  int operator()(const assay::cli::ListArguments& a) const { return assay::cli::list(a); }
  int operator()(const assay::cli::RunArguments& a) const { return assay::cli::run(a); }
  int operator()(const assay::cli::ReportArguments& a) const { return assay::cli::report(a); }
  int operator()(const assay::cli::StoreArguments& a) const { return assay::cli::store(a); }
  int operator()(const assay::cli::DoctorArguments& a) const { return assay::cli::doctor(a); }
  int operator()(const assay::cli::ChipArguments& a) const { return assay::cli::simulate_chip(a); }
  int operator()(const assay::cli::TransportArguments&) const {
    return assay::cli::transport(argv);
  }

  char** argv;
  int operator()(const assay::cli::EinsumArguments& a) const { return assay::cli::contract(a); }
};

int complain(const std::exception& e, int status) {
  std::fprintf(stderr, "assay: %s\n", e.what());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // `assay list | head` ends with a write error, not a signal
  try {
    const auto parsed = assay::cli::parse_arguments(argc, argv);
    if (const int* status = std::get_if<int>(&parsed)) return *status;
    const int status = std::visit(Dispatch{argv}, std::get<assay::cli::Command>(parsed));
    if (std::fflush(stdout) != 0) assay::fail("cannot write to standard output");
    return status;
  } catch (const assay::EnvironmentError& e) {
    return complain(e, assay::cli::kEnvironmentRefused);
  } catch (const assay::UserError& e) {
    return complain(e, assay::cli::kBadInput);
  } catch (const std::exception& e) {
    return complain(e, 70);  // a bug of ours; the message says where
  }
}
