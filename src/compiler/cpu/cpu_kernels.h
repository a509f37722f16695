// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One maker for each kind of kernel.

#include <memory>

#include "compiler/cpu/cpu_kernel.h"

namespace assay::compiler {

std::unique_ptr<CpuKernel> prepare_cpu_region(const Kernel& kernel);
// How many ways there are of a matmul (cpu_kernel.h): 1 packs panels of both factors always.
std::uint32_t cpu_matmul_variants(const Kernel& kernel);
// Null where sums are not of floating point.
std::unique_ptr<CpuKernel> prepare_cpu_matmul(const Kernel& kernel);
std::unique_ptr<CpuKernel> prepare_cpu_grouped_matmul(const Kernel& kernel);
std::unique_ptr<CpuKernel> prepare_cpu_attention(const Kernel& kernel);
// Its form for many rows; factors of f32 or narrower.
std::unique_ptr<CpuKernel> prepare_cpu_wide_attention(const Kernel& kernel);
std::unique_ptr<CpuKernel> prepare_cpu_scatter(const Kernel& kernel);

}  // namespace assay::compiler
