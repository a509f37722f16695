// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/cuda/source/kernel_source.h"

namespace assay::compiler::cuda {

// A kernel that writes the values of symbols, its arguments, to where other kernels read them:
// (long long* to, SymbolValues), one block of kMostSymbols threads.
inline constexpr unsigned kMostSymbols = 64;
struct SymbolValues {
  std::int64_t of[kMostSymbols];
};
KernelSource symbols_source();

}  // namespace assay::compiler::cuda
