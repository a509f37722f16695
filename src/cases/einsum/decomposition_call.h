// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How decompose_cp and decompose_tucker ask the engine, on the processor and on a device.

#include <string>
#include <vector>

#include "cases/einsum/decomposition_inputs.h"
#include "einsum/decompose/cp.h"
#include "einsum/decompose/tucker.h"

namespace assay::cases::einsum {

struct CpCall {
  using Result = assay::einsum::CpResult;
  static Tensor tensor(const DecompositionPoint& point, int set) { return cp_tensor(point, set); }
  static assay::einsum::CpOptions options(const DecompositionPoint& point,
                                          const std::vector<Tensor>& start, int cores);
};

struct TuckerCall {
  using Result = assay::einsum::TuckerResult;
  static Tensor tensor(const DecompositionPoint& point, int set) {
    return tucker_tensor(point, set);
  }
  static assay::einsum::TuckerOptions options(const DecompositionPoint& point,
                                              const std::vector<Tensor>& start, int cores);
};

// The factors "u0", "u1", …, weights or core, and the relative error as it is reported.
void write_decomposition(const std::string& path, const assay::einsum::CpResult& result);
void write_decomposition(const std::string& path, const assay::einsum::TuckerResult& result);

}  // namespace assay::cases::einsum
