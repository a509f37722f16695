// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/machine_limits.h"

#include "kernels/peaks/peaks.h"

namespace assay::cli {

compiler::MachineLimits measured_limits(int threads) {
  kernels::PeakOptions options;
  options.threads = threads;
  options.rounds = 2;
  const auto peaks = kernels::measure_peaks(options);
  return {peaks.triad_bytes_per_second, 2 * peaks.f32.fma};
}

}  // namespace assay::cli
