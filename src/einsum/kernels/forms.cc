// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/forms.h"

#include "base/error.h"
#include "base/names.h"

namespace assay::einsum {

constexpr auto kKernelNames = make_names<Kernel>({{Kernel::kCopy, "copy"},
                                                  {Kernel::kDot, "dot"},
                                                  {Kernel::kOuter, "outer"},
                                                  {Kernel::kHadamard, "hadamard"},
                                                  {Kernel::kLoops, "loops"},
                                                  {Kernel::kGemv, "gemv"},
                                                  {Kernel::kGemm, "gemm"},
                                                  {Kernel::kBatchedGemm, "batched-gemm"},
                                                  {Kernel::kLoopedGemm, "looped-gemm"},
                                                  {Kernel::kTransposeGemm, "transpose-gemm"},
                                                  {Kernel::kGett, "gett"}});

std::string_view name_of(Kernel kernel) { return kKernelNames[kernel]; }

}  // namespace assay::einsum
