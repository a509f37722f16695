// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/forms.h"

#include "base/error.h"

namespace assay::einsum {

std::string_view name_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::kCopy:
      return "copy";
    case Kernel::kDot:
      return "dot";
    case Kernel::kOuter:
      return "outer";
    case Kernel::kHadamard:
      return "hadamard";
    case Kernel::kLoops:
      return "loops";
    case Kernel::kGemv:
      return "gemv";
    case Kernel::kGemm:
      return "gemm";
    case Kernel::kBatchedGemm:
      return "batched-gemm";
    case Kernel::kLoopedGemm:
      return "looped-gemm";
    case Kernel::kTransposeGemm:
      return "transpose-gemm";
    case Kernel::kGett:
      return "gett";
  }
  throw InternalError("a Kernel is one of its enumerators");
}

}  // namespace assay::einsum
