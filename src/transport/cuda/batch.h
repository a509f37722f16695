// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The door of the device: solves the cases of a surface in batches, as transport/solve.h solves
// one.

#include <memory>
#include <span>

#include "transport/scan/scan.h"

namespace assay::transport::cuda {

class BatchSolver {
 public:
  // On the current device, at most `batch` cases at a time; 0: as many as its memory takes. Memory
  // is kept from one solve() to the next. Cases are dealt out to `lanes` streams, which overlap,
  // and cases of another method to streams of their own. Throws DeviceError where there is no
  // device, EnvironmentError where there is no cuBLAS.
  explicit BatchSolver(const Prepared& prepared, int batch = 0, int lanes = 2);
  ~BatchSolver();

  // Tells of the cases as their batches are done, not in order. Warnings, notes and the change to a
  // sturdier method are those of solve(). Throws UserError: what check_case() throws,
  // Method::kMixed; DeviceError: the device fails, or has no room for one case. Polls `interrupt`
  // between batches.
  void solve(std::span<const Case> cases, const SolveOptions& options, const OnSolved& on_solved,
             const std::atomic<bool>* interrupt = nullptr);

  std::size_t device_bytes() const;  // that are in use
  std::string cublas_version() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace assay::transport::cuda
