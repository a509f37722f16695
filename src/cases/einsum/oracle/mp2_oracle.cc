// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/oracle/mp2_oracle.h"

#include <algorithm>

namespace assay::cases::einsum {
namespace {

// row[b] += Σ_P x[P]·turned[P·n + b], four terms at a time.
void add_products(const double* x, const double* turned, std::size_t terms, std::size_t n,
                  double* row) {
  std::size_t p = 0;
  for (; p + 4 <= terms; p += 4) {
    const double x0 = x[p], x1 = x[p + 1], x2 = x[p + 2], x3 = x[p + 3];
    const double* const y = turned + p * n;
    for (std::size_t b = 0; b < n; ++b) {
      row[b] += (x0 * y[b] + x1 * y[n + b]) + (x2 * y[2 * n + b] + x3 * y[3 * n + b]);
    }
  }
  for (; p < terms; ++p) {
    for (std::size_t b = 0; b < n; ++b) row[b] += x[p] * turned[p * n + b];
  }
}

}  // namespace

std::array<double, 3> plain_mp2(const Mp2Problem& problem) {
  const auto& shape = problem.b.shape();
  const auto nocc = static_cast<std::size_t>(shape[0]), nvir = static_cast<std::size_t>(shape[1]),
             naux = static_cast<std::size_t>(shape[2]);
  const double* const all = problem.b.as<double>().data();
  // Orbitals j in any order and number at a time; their sums are added in order.
  std::vector<std::array<double, 2>> of_orbital(nocc);
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t back = 0; back < nocc; ++back) {
    const std::size_t j = nocc - 1 - back;  // the longest first
    std::vector<double> t(nvir * nvir), turned(naux * nvir);
    for (std::size_t b = 0; b < nvir; ++b) {
      for (std::size_t p = 0; p < naux; ++p) {
        turned[p * nvir + b] = all[(j * nvir + b) * naux + p];
      }
    }
    double opposite = 0, same = 0;
    for (std::size_t i = 0; i <= j; ++i) {
      std::ranges::fill(t, 0.0);
      for (std::size_t a = 0; a < nvir; ++a) {
        add_products(all + (i * nvir + a) * naux, turned.data(), naux, nvir, t.data() + a * nvir);
      }
      // T_jiba = T_ijab: the pair (j, i) adds what (i, j) does.
      const double weight = i == j ? 1 : 2;
      double pair_opposite = 0, pair_same = 0;
      for (std::size_t a = 0; a < nvir; ++a) {
        for (std::size_t b = 0; b < nvir; ++b) {
          const double x = t[a * nvir + b], y = t[b * nvir + a];
          const double gap =
              problem.occupied[i] + problem.occupied[j] - problem.virtuals[a] - problem.virtuals[b];
          pair_opposite += x * x / gap;
          pair_same += x * (x - y) / gap;
        }
      }
      opposite += weight * pair_opposite;
      same += weight * pair_same;
    }
    of_orbital[j] = {opposite, same};
  }
  double opposite = 0, same = 0;
  for (const auto& [o, s] : of_orbital) {
    opposite += o;
    same += s;
  }
  return {opposite + same, opposite, same};
}

}  // namespace assay::cases::einsum
