// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Factors made ready for the matrix instructions: each number x, scaled, is split into
//
//   x = high + low/2048,   both rounded to 11 bits (f16 or TF32)
//
// which leaves at most 2u·|x|, u = 2^-24. What is scaled how, and what a row must be like for that
// to hold, is the algebra's affair:
//
//   real       f16: x·2^s, s such that the row's largest lies in [2^14, 2^15). A row fits if its
//              smallest non-zero number is at least 2^-27 of that. TF32: as it is.
//   log        e^(x − row's maximum), f16: times 2^15. Numbers below 2^-29 of the maximum err by up
//              to 2^-51 of it; the certificate of the sum leaves room for that.
//   euclidean  x − centre, f16: scaled as for real; what small numbers lose is nothing beside the
//              norms, to which the certificate compares.
//
// Blocks of 128 rows by 128 bytes of terms lie in memory as shared memory wants them: high parts,
// then low parts, 16 KiB each, rows of 128 bytes swizzled in units of 16.

#include "semiring/algebra_kind.h"
#include "semiring/cuda/launch.h"

namespace assay::semiring::cuda {

constexpr int kBlockRows = 128;
constexpr int kPartBytes = kBlockRows * 128;
constexpr int kBlockBytes = 2 * kPartBytes;
constexpr int kHalfTerms = 64, kTf32Terms = 32;  // of a block

enum class Parts { kHalf, kTf32 };
constexpr int terms_of(Parts parts) { return parts == Parts::kHalf ? kHalfTerms : kTf32Terms; }

// What is known of the rows of a factor, and its blocks, all in device memory.
struct Packed {
  int batches = 0, blocks = 0, term_blocks = 0;  // a matrix that all batches share is packed once
  int chunks = 0;                                // that its terms are scanned in
  unsigned char* data = nullptr;                 // [batch][block][term block][kBlockBytes]
  float2* scans = nullptr;                       // [batch][chunk][row]: see scan_rows
  int* exponents = nullptr;  // [batch][row]: packed numbers are 2^-exponent times the real ones
  float* values = nullptr;   // [batch][row]: log: the maximum; euclidean: the squared norm
  int* fits = nullptr;       // [batch][block]: real: every row fits
  constexpr int rows() const { return blocks * kBlockRows; }
};

// Terms that one block of threads scans: few where there are few, so that all multiprocessors work.
constexpr int kChunkTerms = 512, kShortChunkTerms = 64;
constexpr int chunk_terms(int terms) { return terms > 1024 ? kChunkTerms : kShortChunkTerms; }

// Room for a factor of `batches` matrices.
Packed plan_packed(Arena& arena, Parts parts, std::int64_t batches, int rows, int terms);

// The centre of euclidean, [batch][term]: the mean of up to 32 rows of A and of B.
void find_centre(const Factor<float>& a, const Factor<float>& b, int batches, float* centre,
                 cudaStream_t stream);

// For every row and chunk of terms: real: largest |x| and smallest non-zero one; log: maximum;
// euclidean: largest |x − c|, Σ (x − c)². Also clears `count` flags.
void scan_rows(Algebra algebra, const Factor<float>& a, const Packed& packed_a,
               const Factor<float>& b, const Packed& packed_b, const float* centre, int* flags,
               std::int64_t count, cudaStream_t stream);

// Splits and packs both factors, and fills exponents, values and fits. Does nothing if `wanted` is
// given and holds 0.
void pack(Algebra algebra, Parts parts, const Factor<float>& a, const Packed& packed_a,
          const Factor<float>& b, const Packed& packed_b, const float* centre, const int* wanted,
          cudaStream_t stream);

// Scans and packs in one launch, each row's terms in the blocks of one cluster: what few terms
// allow on devices that have clusters, and algebras whose scans are the same in any order.
constexpr bool can_pack_at_once(Algebra algebra, Parts parts, std::int64_t terms) {
  constexpr int kLargestCluster = 8;
  return algebra != Algebra::kEuclidean && parts == Parts::kHalf &&
         terms <= std::int64_t{kLargestCluster} * kHalfTerms;
}
void scan_and_pack(Algebra algebra, const Factor<float>& a, const Packed& packed_a,
                   const Factor<float>& b, const Packed& packed_b, int* flags, std::int64_t count,
                   cudaStream_t stream);

// How often the sums of scan_rows and of joining their chunks round.
constexpr int norm_roundings(std::int64_t k) {
  const int chunk = chunk_terms(static_cast<int>(k));
  return static_cast<int>(chunk / 8 + 8 + ceil_div(k, chunk) + 1);
}

}  // namespace assay::semiring::cuda
