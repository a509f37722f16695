// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lab/measure/workload.h"

namespace assay::cases::own {

// One benchmark of a Google Benchmark program, which times itself: an attempt starts the program
// once, for as many repetitions as an attempt has batches, and its repetitions are the samples.
// What `argv` says of repetitions and their length goes before what the attempt asks for.
// `benchmark` is the exact name; empty: argv has a filter, which must select one benchmark alone.
// `directory` is the attempt's. Throws ProviderFailure where there is no such program.
std::unique_ptr<lab::Workload> benchmark_workload(std::vector<std::string> argv,
                                                  std::string benchmark,
                                                  const std::string& working_directory,
                                                  const std::string& directory);

// The filter that selects the benchmark of that name alone, in each of the languages of regular
// expressions that Google Benchmark is built with.
std::string exact_filter(std::string_view benchmark);

}  // namespace assay::cases::own
