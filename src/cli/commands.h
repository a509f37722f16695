// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One function for each command, each in a file of its own. They print data on standard output and
// progress on standard error, and return the exit status.

#include <string>

#include "base/exit_status.h"
#include "cli/arguments/arguments.h"

namespace assay::lab {
struct Calibration;
}

namespace assay::cli {

int list(const ListArguments& arguments);
int run(const RunArguments& arguments);
// One run after the other; `typed` says what is the same for all.
int run_each(const RunArguments& typed, const std::vector<RunArguments>& runs);
int time_commands(const TimeArguments& arguments);
int new_case(const NewArguments& arguments);
int report(const ReportArguments& arguments);
int figures(const FiguresArguments& arguments);
int site(const SiteArguments& arguments);
int serve(const ServeArguments& arguments);
int store(const StoreArguments& arguments);
int doctor(const DoctorArguments& arguments);
int calibrate(const CalibrateArguments& arguments);
int simulate_chip(const ChipArguments& arguments);
// Becomes the program `assay-transport`, which links the file formats and MPI, with our own
// command line; returns only where that cannot be done (EnvironmentError).
int transport(char** argv);
// Becomes assay-einsum-cuda with the same command line where a device is asked for.
int contract(const EinsumArguments& arguments, char** argv);
int compile_graph(const CompileArguments& arguments);
int language_model(const LlmArguments& arguments, char** argv);
int bench_models(const LlmArguments& arguments);
int compare(const CompareArguments& arguments);
int gate(const GateArguments& arguments);
int history(const HistoryArguments& arguments);
int bars(const BarsArguments& arguments);
int bundle(const BundleArguments& arguments);
int feed(const FeedArguments& arguments);
int import_files(const ImportArguments& arguments);
int export_rows(const ExportArguments& arguments);

// A calibration in words, as calibrate and doctor print it.
std::string format_calibration(const lab::Calibration& calibration);

}  // namespace assay::cli
