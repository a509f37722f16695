// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products of a large tensor with a matrix of few columns. A general product would first copy the
// tensor into blocks, which costs as much as multiplying it; here every element is read once, as it
// lies, and the sums stay in registers.

#include <cstdint>

namespace assay::einsum {

// Columns are padded to whole vectors, 64 bytes: rows of u and y have this many elements, those
// beyond `columns` are zero in u and come out as zero in y.
template <typename T>
constexpr std::int64_t padded_columns(std::int64_t columns) {
  constexpr std::int64_t kWhole = 64 / static_cast<std::int64_t>(sizeof(T));
  return (columns + kWhole - 1) / kWhole * kWhole;
}

// A row-major tensor seen as before × n × after; n is summed over.
struct Middle {
  std::int64_t before, n, after;
};

// y(p, q, r) = Σ_i x(p, i, q)·u(i, r). `columns` is padded; y is written, not read. T is float or
// double; sums are in the order of i for any number of threads, and an fma each.
template <typename T>
void multiply_skinny(const T* x, const Middle& shape, const T* u, std::int64_t columns, T* y,
                     int threads);

// y(p, q, r) = Σ_i x(p, i, q, r)·u(i, r): the same where x has the columns as its last axis.
template <typename T>
void contract_columns(const T* x, const Middle& shape, const T* u, std::int64_t columns, T* y,
                      int threads);

}  // namespace assay::einsum
