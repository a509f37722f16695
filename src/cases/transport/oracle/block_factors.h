// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cases/transport/oracle/equation.h"
#include "cases/transport/oracle/lu.h"

namespace assay::cases::transport::oracle {

// The equation's matrix, block-tridiagonal in k, eliminated in f64 from the highest k down:
//
//   Δ_k = A_kk − A_{k,k+1} Δ_{k+1}⁻¹ A_{k+1,k}
//
// Good to some digits only; whoever needs more corrects with residuals (coefficients.cc). Keeps all
// blocks: 8(n_ξ+1)N² bytes.
class BlockFactors {
 public:
  explicit BlockFactors(const Equation& equation);
  // x ← A⁻¹ x, up to rounding in f64: [k][point][column].
  void solve(int columns, std::vector<double>& x) const;

 private:
  // target −= A_lk·x for points × columns numbers.
  void subtract_block(int l, int k, int columns, const double* x, double* target) const;
  std::vector<double> block(int l, int k) const;

  const Equation& equation_;
  std::vector<Lu> delta_;  // from the highest k down
};

}  // namespace assay::cases::transport::oracle
