// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/solve.h"

namespace assay::transport {

// ∂D/∂ν̂ and ∂D/∂Ê of all four coefficients from two forward and two adjoint solves with one
// factorisation, which keeps every block: 8(n_ξ+1)N² bytes. Throws what solve() does, and UserError
// for an even number of points along an angle: nothing here could warn of what solve() warns of.
struct Derivatives {
  Coefficients by_nu_hat, by_epsi_hat;
};
Derivatives differentiate(const Prepared& prepared, const Case& at);

}  // namespace assay::transport
