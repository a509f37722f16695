// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <cstdio>
#include <exception>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "lab/view/text.h"

namespace {

using namespace assay::cli;

struct Dispatch {
  char** argv;
  int operator()(const ListArguments& a) const { return list(a); }
  int operator()(const RunArguments& a) const { return run(a); }
  int operator()(const ReportArguments& a) const { return report(a); }
  int operator()(const FiguresArguments& a) const { return figures(a); }
  int operator()(const SiteArguments& a) const { return site(a); }
  int operator()(const ServeArguments&) const { return serve(argv); }
  int operator()(const StoreArguments& a) const { return store(a); }
  int operator()(const DoctorArguments& a) const { return doctor(a); }
  int operator()(const CalibrateArguments& a) const { return calibrate(a); }
  int operator()(const ChipArguments& a) const { return simulate_chip(a); }
  int operator()(const TransportArguments&) const { return transport(argv); }
  int operator()(const EinsumArguments& a) const { return contract(a); }
  int operator()(const CompareArguments& a) const { return compare(a); }
  int operator()(const GateArguments& a) const { return gate(a); }
  int operator()(const HistoryArguments& a) const { return history(a); }
  int operator()(const BundleArguments& a) const { return bundle(a); }
  int operator()(const FeedArguments& a) const { return feed(a); }
  int operator()(const ImportArguments& a) const { return import_files(a); }
  int operator()(const ExportArguments& a) const { return export_rows(a); }
};

int complain(const std::exception& e, int status) {
  // A message may quote a file that is anyone's: one line, and nothing that moves the cursor.
  std::fprintf(stderr, "assay: %s\n", assay::lab::printable(e.what()).c_str());
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
