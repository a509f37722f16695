// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "lab/record/row.h"

namespace assay::cli {

// The A/A floor of a machine: what `assay calibrate` kept on this one, else the newest that the
// rows carry; nothing where neither knows.
std::optional<double> calibrated_floor(const std::string& fingerprint,
                                       std::span<const lab::Row> rows);

}  // namespace assay::cli
