// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What log and euclidean do around the real product, in vectors: the scan before it, the
// certificate and the finish after it, and the same entries term by term where it fails.
// The bounds that the certificates stand for are derived in docs/methods/semiring.md.

#include <array>
#include <cstdint>

#include "kernels/tiles/pack_kernels.h"

namespace assay::semiring::simd {

// One bit for each column of a tile's row, at most 64.
using RowBits = std::uint64_t;

template <typename T>
struct LogFinish {
  const T *left_maxima, *right_maxima;  // of the tile's rows, and of its columns (padded)
  T least, most;                        // what a certified sum lies between
};

template <typename T>
struct EuclideanFinish {
  const T *left_norms, *right_norms;  // squared, of the centred rows and columns (padded)
  T share;                            // of the two norms that a certified square is at least
  T least, most;                      // what a certified square, and the norms, lie between
};

template <typename T>
struct CertifiedKernels {
  static constexpr int kMaxForms = 3, kFormRows = 4;

  int lanes = 0;
  // How many of the forms below there are; form f takes kFormRows·(f + 1) rows.
  int forms = 0;

  // out[i] = max over l of x(i, l), NaN where one of them is.
  void (*maxima)(const kernels::PanelSource<T>& x, T* out) = nullptr;
  // norms[i] = [norms[i] +] Σ_l panel[l·width + i]², in ⌈terms/4⌉ + 3 roundings.
  void (*norms)(const T* panel, int width, std::int64_t terms, bool accumulate, T* norms) = nullptr;

  // Turns the sums in c into results. The bits of entries that are not certified are set in
  // refused[row]; what c holds there is nothing.
  void (*finish_log)(const LogFinish<T>& f, int rows, int columns, T* c, std::int64_t row_stride,
                     RowBits* refused) = nullptr;
  void (*finish_euclidean)(const EuclideanFinish<T>& f, int rows, int columns, T* c,
                           std::int64_t row_stride, RowBits* refused) = nullptr;

  // out[r·lanes + s] = ⊕_l rows[r][l] ⊗ b[l·stride + s], from the terms themselves, `block` of them
  // at a time. log: finished. euclidean: the sum of squares.
  using Exact = void (*)(std::int64_t terms, std::int64_t block, const T* const* rows, const T* b,
                         std::int64_t stride, T* out);
  std::array<Exact, kMaxForms> exact_log{}, exact_squares{};
};

const CertifiedKernels<float>& certified_kernels(float);
const CertifiedKernels<double>& certified_kernels(double);

}  // namespace assay::semiring::simd
