// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "cli/arguments/arguments.h"
#include "cli/commands.h"
#include "cli/program.h"
#include "lab/store/typed_sources.h"

namespace {

using namespace assay::cli;

// Commands that read no rows: what they are given goes to programs of their own as it is.
constexpr auto kEngines =
    std::to_array<std::string_view>({"chip", "compile", "einsum", "llm", "transport"});

struct Dispatch {
  char** argv;
  int operator()(const ListArguments& a) const { return list(a); }
  int operator()(const RunArguments& a) const { return run(a); }
  int operator()(const TimeArguments& a) const { return time_commands(a); }
  int operator()(const NewArguments& a) const { return new_case(a); }
  int operator()(const ReportArguments& a) const { return report(a); }
  int operator()(const FiguresArguments& a) const { return figures(a); }
  int operator()(const SiteArguments& a) const { return site(a); }
  int operator()(const ServeArguments& a) const { return serve(a); }
  int operator()(const StoreArguments& a) const { return store(a); }
  int operator()(const DoctorArguments& a) const { return doctor(a); }
  int operator()(const CalibrateArguments& a) const { return calibrate(a); }
  int operator()(const ChipArguments& a) const { return simulate_chip(a); }
  int operator()(const TransportArguments&) const { return transport(argv); }
  int operator()(const EinsumArguments& a) const { return contract(a, argv); }
  int operator()(const CompileArguments& a) const { return compile_graph(a); }
  int operator()(const LlmArguments& a) const { return language_model(a, argv); }
  int operator()(const CompareArguments& a) const { return compare(a); }
  int operator()(const GateArguments& a) const { return gate(a); }
  int operator()(const HistoryArguments& a) const { return history(a); }
  int operator()(const BarsArguments& a) const { return bars(a); }
  int operator()(const BundleArguments& a) const { return bundle(a); }
  int operator()(const FeedArguments& a) const { return feed(a); }
  int operator()(const ImportArguments& a) const { return import_files(a); }
  int operator()(const ExportArguments& a) const { return export_rows(a); }
};

}  // namespace

int main(int argc, char** argv) {
  assay::lab::take_passwords(argc, argv, kEngines);
  return run_program(
      argc, argv, [argv](const Command& c) { return std::visit(Dispatch{argv}, c); },
      assay::lab::as_typed);
}
