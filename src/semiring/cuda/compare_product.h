// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// max_plus and min_plus in f32, two additions and one integer maximum of three for two terms.
//
// A float that is not negative orders like its bits as a signed integer, and every negative one is
// below it; so does the NaN that an addition gives (0x7fffffff), which is above all. An entry whose
// largest bits are not negative is thus the maximum, whatever the other terms are. An entry with
// negative bits is refused, and its tile computed again by the plain way. Tiles in which no term
// can be positive, because the largest numbers of their rows and columns add up to less than 0,
// take the minimum of the bits instead: negative floats order backwards, and NaN cannot occur.
//
// min_plus is max_plus of the negated factors, negated: exact.

#include "semiring/cuda/launch.h"
#include "semiring/cuda/plain_product.h"

namespace assay::semiring::cuda {

struct CompareProduct {
  bool is_min;
  int batches, m, n, k;
  Factor<float> a, b;
  Result<float> c;
};

// Takes what it needs from the arena; with one that only counts, nothing is launched. At most 2³¹
// tiles.
void compare_product(const CompareProduct& product, int multiprocessors, Arena& arena,
                     unsigned long long* refused, cudaStream_t stream);

}  // namespace assay::semiring::cuda
