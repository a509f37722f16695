// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>

#include "cases/own/problem.h"
#include "lab/measure/workload.h"

namespace assay::cases::own {

// A provider as a shared library (include/assay/workload.h). Throws lab::ProviderFailure: the
// library cannot be loaded (library_missing), lacks a function (symbol_missing), is of another
// version (version), refuses (prepare, call), or wrote beside its outputs (out_of_bounds).
// `sets` says which input set stands for each of an attempt's three.
std::unique_ptr<lab::Workload> library_workload(const std::string& library, Problem problem,
                                                Json point, const std::array<int, 3>& sets);

}  // namespace assay::cases::own
