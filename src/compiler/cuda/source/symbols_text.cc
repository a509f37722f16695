// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/symbols_text.h"

namespace assay::compiler::cuda {

KernelSource symbols_source() {
  KernelSource source;
  source.code = R"cuda(
struct SymbolValues { long long of[64]; };
extern "C" __global__ void set(long long* to, const SymbolValues values) {
  to[threadIdx.x] = values.of[threadIdx.x];
}
)cuda";
  source.entries = {"set"};
  return source;
}

}  // namespace assay::compiler::cuda
