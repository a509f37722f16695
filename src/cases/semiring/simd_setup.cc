// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/simd_setup.h"

#include "kernels/targets.h"

namespace assay::cases::semiring {

assay::semiring::SimdOptions simd_options(int cores) {
  return {.threads = cores, .caches = assay::kernels::read_cache_sizes()};
}

std::map<std::string, std::string> simd_versions() {
  return {{"instruction_set", assay::kernels::instruction_sets().front().name}};
}

}  // namespace assay::cases::semiring
