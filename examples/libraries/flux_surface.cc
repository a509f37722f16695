// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// assay::transport: monoenergetic coefficients of a flux surface, how they change with the
// collisionality, and the integral over energies that a transport code wants.
#include <cmath>
#include <cstdio>
#include <vector>

#include "transport/derivative.h"
#include "transport/scan/energy.h"
#include "transport/solve.h"

namespace tr = assay::transport;

int main() {
  // A surface is given by |B| as a Fourier series; files of VMEC, BOOZ_XFORM and DKES are read by
  // the program `assay transport`.
  tr::Surface surface;
  surface.name = "torus with ripple";
  surface.nfp = 5;
  surface.iota = 0.9;
  surface.psi_prime = 0.5;
  surface.b_zeta = 15;
  surface.b = {{0, 0, 2.5}, {1, 0, -0.2}, {0, 1, 0.1}};  // {m, n, cosine}, in tesla

  // What does not depend on the case is made once.
  const auto prepared = tr::prepare(surface, {.n_theta = 15, .n_zeta = 15, .n_xi = 40});
  std::printf("%10s %12s %12s %12s\n", "nu/v [1/m]", "D11", "D31", "D33");
  std::vector<double> nu, d11;
  for (const double exponent : {-3.0, -2.0, -1.0, 0.0}) {
    const tr::Case at = {.nu_hat = std::pow(10, exponent)};
    const auto d = tr::solve(prepared, at).d;
    std::printf("%10.0e %12.4e %12.4e %12.4e\n", at.nu_hat, d.d11, d.d31, d.d33);
    nu.push_back(at.nu_hat);
    d11.push_back(d.d11);
  }

  // The same in the normalisation of the program DKES, to be put beside its output.
  const auto dkes = tr::dkes_output(tr::solve(prepared, {.nu_hat = 1e-2}).d, prepared.geometry());
  std::printf("DKES would print L11 %.4e, L31 %.4e, L33 %.4e\n", dkes.l11, dkes.l31, dkes.l33);

  // All derivatives from one factorisation, by the adjoint system; here against a difference.
  const double step = 1e-6;
  const double slope = tr::differentiate(prepared, {.nu_hat = 1e-2}).by_nu_hat.d11;
  const double up = tr::solve(prepared, {.nu_hat = 1e-2 + step}).d.d11;
  const double down = tr::solve(prepared, {.nu_hat = 1e-2 - step}).d.d11;
  std::printf("dD11/dnu at 1e-2: %.4e, by a difference %.4e\n", slope, (up - down) / (2 * step));
  std::printf("energy integral of D11: %.4e\n", tr::energy_integral(nu, d11, 1e-2, 1));
}
