// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a machine was found to make of comparisons of something with itself (`assay calibrate`),
// kept under its fingerprint: the least difference that means anything here.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "lab/record/row_parts.h"

namespace assay::lab {

struct Calibration {
  // A rate with its exact 95 % interval.
  struct Share {
    int count = 0, trials = 0;
    double rate = 0, low = 0, high = 1;
  };
  // Standard deviations of ln(time); absent where it could not be told.
  struct Noise {
    std::string kernel;
    std::optional<double> within_process, between_processes, between_runs;
    int bimodal = 0;  // comparisons whose attempts were
  };

  std::string measured;              // when, ISO 8601
  std::vector<std::string> kernels;  // "semiring_matmul assay-simd"
  int comparisons = 0, rounds = 0;
  double floor = 0;      // relative: 99th percentile of |median d| over the comparisons
  double largest = 0;    // relative: the largest of them
  double sigma_d = 0;    // typical spread of d within a comparison
  double tolerance = 0;  // δ of the gate that was tried
  Share false_alarms;    // of that gate, over both directions
  Share unresolved;      // likewise
  Share excludes_one;    // 95 % intervals that do not hold 1
  std::vector<Noise> noise;
  double load = 0;  // largest one-minute load before an attempt
  Json settings;    // of the attempts

  Json to_json() const;
  // Throws UserError naming `what`.
  static Calibration from_json(const Json& json, std::string_view what);
  // What rows carry of it: {measured, comparisons, floor}.
  CalibrationRecord record() const;
};

// What was saved under a machine's fingerprint; nothing if nothing was ("uncalibrated"). Throws
// UserError naming a file that is not what it should be.
std::optional<Calibration> load_calibration(std::string_view fingerprint);
// Returns the file's path.
std::string save_calibration(std::string_view fingerprint, const Calibration& calibration);

}  // namespace assay::lab
