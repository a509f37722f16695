// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/oracle/block_factors.h"

namespace assay::cases::transport::oracle {

std::vector<double> BlockFactors::block(int l, int k) const {
  const auto n = static_cast<std::size_t>(equation_.points());
  std::vector<double> matrix(n * n, 0.0);
  std::vector<Equation::Entry> entries;
  for (int r = 0; r < equation_.points(); ++r) {
    equation_.row(l, k, r, entries);
    for (const auto& e : entries) {
      matrix[static_cast<std::size_t>(r) * n + static_cast<std::size_t>(e.column)] +=
          static_cast<double>(e.value);
    }
  }
  return matrix;
}

void BlockFactors::subtract_block(int l, int k, int columns, const double* x,
                                  double* target) const {
  std::vector<Equation::Entry> entries;
  for (int r = 0; r < equation_.points(); ++r) {
    equation_.row(l, k, r, entries);
    double* out = target + static_cast<std::ptrdiff_t>(r) * columns;
    for (const auto& e : entries) {
      const auto factor = static_cast<double>(e.value);
      const double* in = x + static_cast<std::ptrdiff_t>(e.column) * columns;
      for (int c = 0; c < columns; ++c) out[c] -= factor * in[c];
    }
  }
}

BlockFactors::BlockFactors(const Equation& equation) : equation_(equation) {
  const int n = equation.points();
  delta_.emplace_back(n, block(equation.top(), equation.top()));
  for (int k = equation.top(); k >= 1; --k) {
    auto solved = block(k, k - 1);
    delta_.back().solve(n, solved.data());
    auto below = block(k - 1, k - 1);
    subtract_block(k - 1, k, n, solved.data(), below.data());
    delta_.emplace_back(n, std::move(below));
  }
}

// σ_k = s_k − A_{k,k+1} Δ_{k+1}⁻¹ σ_{k+1} down, then f_k = Δ_k⁻¹ (σ_k − A_{k,k−1} f_{k−1}) up.
void BlockFactors::solve(int columns, std::vector<double>& x) const {
  const std::size_t size = static_cast<std::size_t>(equation_.points() * columns);
  const int top = equation_.top();
  const auto part = [&](int k) { return x.data() + static_cast<std::size_t>(k) * size; };
  const auto delta = [&](int k) -> const Lu& { return delta_[static_cast<std::size_t>(top - k)]; };
  for (int k = top; k >= 1; --k) {
    std::vector<double> solved(part(k), part(k) + size);
    delta(k).solve(columns, solved.data());
    subtract_block(k - 1, k, columns, solved.data(), part(k - 1));
  }
  for (int k = 0; k <= top; ++k) {
    if (k > 0) subtract_block(k, k - 1, columns, part(k - 1), part(k));
    delta(k).solve(columns, part(k));
  }
}

}  // namespace assay::cases::transport::oracle
