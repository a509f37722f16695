// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known of the speed of this machine, in files.

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "einsum/kernels/time_model.h"

namespace assay::einsum {

// One measured shape.
struct Measurement {
  Part part = Part::kGemm;
  bool wide = true;  // f64; else f32
  std::string shape;
  Work work;
  double measured_s = 0, predicted_s = 0;
  // The slower of the two halves of the passes, the fastest of each; 0: measured once.
  double again_s = 0;
};

struct Calibration {
  std::string fingerprint;  // of the machine (base/machine.h)
  std::string blas;         // the library that was measured; of a device, that and which it is
  int threads = 1;          // 0 for a device
  TimeModel model;
  std::vector<Measurement> measurements;
};

Json to_json(const Calibration& calibration);
// Throws UserError naming what is wrong with `what` (a path).
Calibration calibration_from_json(const Json& json, const std::string& what);

// Writes the file so that a crash leaves the old or the new one.
void save_calibration(const std::string& path, const Calibration& calibration);
// Throws UserError: no such file, damaged, of another machine, BLAS or number of threads.
Calibration load_calibration(const std::string& path, int threads);

// The same beside what else is known of this machine (base/machine_files.h), one for each number of
// threads.
std::string save_machine_calibration(const Calibration& calibration);  // returns its path
// Nothing if there is none; else throws as load_calibration() does.
std::optional<Calibration> load_machine_calibration(int threads);
// Its model, or the defaults.
TimeModel machine_model(int threads);

// The same for this machine's GPU, which `device` describes with its library
// ("NVIDIA H200, cuBLAS 13.0.2").
Calibration load_device_calibration(const std::string& path, const std::string& device);
TimeModel device_model(const std::string& device);

}  // namespace assay::einsum
