// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/record/protocol.h"
#include "lab/record/row_parts.h"

namespace assay::lab {

// The metrics of a row: what the worker reported, the statistics of its steady batches, medians of
// samples that are named as a metric, and the rates that follow from the case's cost model.
std::map<std::string, double> derive_metrics(const WorkerReport& report,
                                             const std::map<std::string, double>& work);

// What is said of an attempt's steady times, each of one call: the median and what surrounds it.
void add_steady_statistics(const std::vector<double>& seconds, std::map<std::string, double>& to);

// The raw values of a row, with the size of a batch.
Samples samples_of(const WorkerReport& report);

}  // namespace assay::lab
