// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::kernels {

// Bytes of data cache that one core can count on. The defaults are those of a small current core:
// right everywhere, and within a few per cent of the best blocking on larger ones.
struct CacheSizes {
  std::int64_t l1 = 32 << 10;
  std::int64_t l2 = 1 << 20;
  std::int64_t last = 32 << 20;  // of all cores together: what is larger comes from memory
  // Of each factor, packed at once: beyond this, packing anew costs less than memory would.
  std::int64_t packed = 16 << 20;
};

// What the system says about its first core; a level that it does not mention keeps the default.
// Reads a few files: ask once and pass the answer on.
CacheSizes read_cache_sizes();

}  // namespace assay::kernels
