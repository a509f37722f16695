// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/small_solve.h"

#include <algorithm>
#include <cmath>

namespace assay::transport {

bool solve_small(std::size_t n, std::vector<double>& a, std::vector<double>& b) {
  std::vector<double> column(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!(std::abs(a[i * n + i]) > 0)) return false;
    column[i] = 1 / std::sqrt(std::abs(a[i * n + i]));
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a[i * n + j] *= column[i] * column[j];
    b[i] *= column[i];
  }
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t i = p + 1; i < n; ++i) {
      if (std::abs(a[i * n + p]) > std::abs(a[best * n + p])) best = i;
    }
    if (!(std::abs(a[best * n + p]) > 1e-15)) return false;
    if (best != p) {
      for (std::size_t j = 0; j < n; ++j) std::swap(a[best * n + j], a[p * n + j]);
      std::swap(b[best], b[p]);
    }
    for (std::size_t i = p + 1; i < n; ++i) {
      const double factor = a[i * n + p] / a[p * n + p];
      for (std::size_t j = p; j < n; ++j) a[i * n + j] -= factor * a[p * n + j];
      b[i] -= factor * b[p];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) b[i] -= a[i * n + j] * b[j];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = 0; i < n; ++i) b[i] *= column[i];
  return true;
}

}  // namespace assay::transport
