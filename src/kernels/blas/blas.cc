// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/blas/blas.h"

#include <algorithm>

namespace assay::blas {

const Library& one_thread() {
  static const Library& library = []() -> const Library& {
    const Library& loaded = Library::openblas();
    loaded.set_threads(1);
    return loaded;
  }();
  return library;
}

const std::string& description() {
  static const std::string text = one_thread().description();
  return text;
}

// A panel of all rows (OpenBLAS, column-major, takes them for columns) and a block of the others'
// columns, by the terms of one pass. Its kernels for different processors take blocks of 192 to
// 1024 columns and 256 to 512 terms.
double gemm_packing(double m, double n, double k) {
  constexpr double kMostTerms = 512, kMostColumns = 1024;
  return std::min(k, kMostTerms) * (m + std::min(n, kMostColumns));
}

double gemv_packing(double rows, double columns) { return rows + columns; }

}  // namespace assay::blas
