// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sections of markdown_report(), each with its heading and a final newline, or empty.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lab/beside/summary.h"

namespace assay::lab {

// Short names of the machines, by fingerprint: M1, M2, … in the order of the fingerprints.
using MachineNames = std::map<std::string, std::string>;
MachineNames name_machines(std::span<const Row> rows);

std::string runs_section(std::span<const Row> rows);
std::string machines_section(std::span<const Row> rows, const MachineNames& machines);
std::string results_section(std::span<const Summary> summaries, const MachineNames& machines);
std::string failures_section(std::span<const Row> rows, const MachineNames& machines);
std::string caveats_section(std::span<const Row> rows, std::span<const Summary> summaries,
                            const std::vector<std::string>& warnings);
std::string reproduce_section(std::span<const Row> rows);

}  // namespace assay::lab
