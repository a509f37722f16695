// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/calibrated_floor.h"

#include "lab/record/calibration.h"

namespace assay::cli {

std::optional<double> calibrated_floor(const std::string& fingerprint,
                                       std::span<const lab::Row> rows) {
  // It becomes part of a path, and rows are anyone's.
  const bool plain = fingerprint.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (fingerprint.empty() || !plain) return std::nullopt;
  if (const auto kept = lab::load_calibration(fingerprint)) return kept->floor;
  std::optional<double> floor;
  std::string newest;
  for (const auto& row : rows) {
    if (row.machine.fingerprint != fingerprint || row.run_id < newest) continue;
    if (const auto value = row.provenance.calibration_floor()) {
      floor = value;
      newest = row.run_id;
    }
  }
  return floor;
}

}  // namespace assay::cli
