// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The product of two packed factors by three products of their parts on the tensor cores (sm_90a):
//
//   Σ a·b ≈ Σ ah·bh + (Σ ah·bl + Σ al·bh)/2048
//
// The tensor cores truncate as they add: sums of ah·bh are moved to f32 registers, rounded to
// nearest, every kPromotedTerms terms (TF32: half as many); the small sums are apart, where
// truncation is nothing. An instruction that adds 16 terms (TF32: 8) to a sum errs by at most 4u of
// the sum of absolute values, hence, with u = 2^-24 and l·l and roundings of the parts at 8u,
//
//   |Ĉ − C| ≤ (8 + 4·256/16 + 2⌈k/256⌉ + 2)·u·Σ|a||b|
//
// which from k = 32 on is less than k·u, the bound of f32's own sum one after the other. The 4u are
// an assumption, cautious beside what others measured of such cores; the tests see only the whole
// error, which stays below a quarter of the bound.

#include "semiring/algebra_kind.h"
#include "semiring/cuda/factors.h"

namespace assay::semiring::cuda {

constexpr int kPromotedTerms = 256;
constexpr int kLeastSplitTerms = 32;
constexpr int product_roundings(std::int64_t k) {
  const std::int64_t terms = k < kPromotedTerms ? k : kPromotedTerms;
  return static_cast<int>(8 + 4 * ceil_div(terms, 16) + 2 * ceil_div(k, kPromotedTerms) + 2);
}

// What a certified entry must satisfy (docs/methods/semiring.md, sections 3 and 4).
struct Certificate {
  float least = 0, most = 0;  // log: of the sum; euclidean: of square and norms
  float share = 0;            // euclidean
};

struct SplitProduct {
  Algebra algebra;
  Parts parts;
  int batches, m, n;
  Packed a, b;
  Result<float> c;
  Certificate certificate;
  int* flags;  // [batch][row block][column block]: set to 1 where an entry is refused
  int* any_refused = nullptr;  // set to 1 with any of them
  // Only tiles whose flag is set; a tile that is refused again has flag 2.
  bool only_flagged = false;
};

// Whether this device can; what it cannot, nobody asks for.
bool has_split_product(int device);

void split_product(const SplitProduct& product, int multiprocessors, cudaStream_t stream);

}  // namespace assay::semiring::cuda
