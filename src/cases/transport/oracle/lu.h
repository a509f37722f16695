// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace assay::cases::transport::oracle {

// A dense matrix of f64, row-major, as P·L·U: partial pivoting, in panels. Plain loops; the oracle
// asks no library. A pivot of zero leaves infinities.
class Lu {
 public:
  Lu(int n, std::vector<double> matrix);
  // X ← A⁻¹ X for n × columns numbers, row-major.
  void solve(int columns, double* x) const;

 private:
  int n_;
  std::vector<double> a_;
  std::vector<int> pivots_;
};

}  // namespace assay::cases::transport::oracle
