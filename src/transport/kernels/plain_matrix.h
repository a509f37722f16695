// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrices that tests compute with by plain loops.

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "transport/kernels/kernels.h"

namespace assay::transport {

// Column-major, rows×columns.
template <typename T = double>
struct Plain {
  int rows = 0, columns = 0;
  std::vector<T> v;

  Plain(int rows_, int columns_)
      : rows(rows_), columns(columns_), v(elements(rows_, columns_), T{0}) {}
  T& operator()(int r, int c) { return v[elements(c, rows) + static_cast<std::size_t>(r)]; }
  T operator()(int r, int c) const { return v[elements(c, rows) + static_cast<std::size_t>(r)]; }
};

template <typename T = double>
Plain<T> random_matrix(int rows, int columns, std::uint64_t stream) {
  Plain<T> a(rows, columns);
  const Philox random(3, stream);
  for (std::size_t i = 0; i < a.v.size(); ++i) a.v[i] = static_cast<T>(uniform(random[i], -1, 1));
  return a;
}

template <typename T>
Plain<T> product(const Plain<T>& a, const Plain<T>& b) {
  Plain<T> c(a.rows, b.columns);
  for (int j = 0; j < b.columns; ++j) {
    for (int k = 0; k < a.columns; ++k) {
      for (int i = 0; i < a.rows; ++i) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

// The greatest difference of two elements; infinite where one is NaN, or the sizes differ.
template <typename T>
double difference(const Plain<T>& a, const Plain<T>& b) {
  if (a.v.size() != b.v.size()) return INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < a.v.size(); ++i) {
    const double off = std::abs(static_cast<double>(a.v[i]) - static_cast<double>(b.v[i]));
    if (!(off <= worst)) worst = std::isnan(off) ? INFINITY : off;
  }
  return worst;
}

// L·U of factors in place, rows ≥ columns.
inline Plain<> multiply_out(const Plain<>& lu) {
  Plain<> lower(lu.rows, lu.columns), upper(lu.columns, lu.columns);
  for (int c = 0; c < lu.columns; ++c) {
    for (int r = 0; r < lu.rows; ++r) {
      lower(r, c) = r == c ? 1 : r > c ? lu(r, c) : 0;
      if (r <= c) upper(r, c) = lu(r, c);
    }
  }
  return product(lower, upper);
}

inline void exchange(Plain<>& a, int p, int other) {
  for (int c = 0; c < a.columns; ++c) std::swap(a(p, c), a(other, c));
}

// The error allowed of L·U: n·ε·|L||U|, elements up to n, ×10.
inline double growth(int n) { return 10.0 * (n + 2) * 1e-16 * (n + 2); }

}  // namespace assay::transport
