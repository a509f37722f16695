// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/tiles/caches.h"

namespace assay::semiring {

struct SimdOptions {
  int threads = 1;  // at most this many; small products take one
  kernels::CacheSizes caches;
};

}  // namespace assay::semiring
