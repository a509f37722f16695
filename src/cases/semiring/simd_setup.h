// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "semiring/simd/matmul.h"

namespace assay::cases::semiring {

// How the provider `assay-simd` uses the engine: a thread for each core of its group, blocked for
// the caches of this machine.
assay::semiring::SimdOptions simd_options(int cores);

// The instruction set that its kernels use here.
std::map<std::string, std::string> simd_versions();

}  // namespace assay::cases::semiring
