// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/cuda/source/kernel_source.h"

namespace assay::compiler::cuda {

// The place of the first of the greatest of many f32, and where one is NaN or +∞, −1 − the place of
// the first such. Arguments: (const float* values, long long count, char* answers); the first entry
// leaves one of each block there, the second the answer, an i64.
inline constexpr unsigned kGreatestBlocks = 128, kGreatestThreads = 256;
inline constexpr std::int64_t kGreatestBytes = 16 * (kGreatestBlocks + 1);
KernelSource greatest_source();

}  // namespace assay::compiler::cuda
