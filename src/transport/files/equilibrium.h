// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Surfaces from equilibrium files, and the one function that finds any surface.

#include <optional>
#include <string>

#include "transport/scan/input.h"
#include "transport/surface/surface.h"

namespace assay::transport {

// The surface with normalised toroidal flux psi_n of a VMEC `wout` file, in VMEC's angles. Values
// on the half mesh are interpolated linearly in the flux, and continued by half a cell at the ends.
// Asymmetric equilibria (lasym) are refused.
//   phase mθ + n·nfp·ζ with n = −xn/nfp;  ψ = s·ψ_a, ψ_a = phi_edge/2π;  J = |gmnc|/|ψ_a|
//   dψ/dr = 2 ψ_a √psi_n / Aminor_p
Surface read_vmec(const std::string& path, double psi_n);

// The same of a `boozmn` file, in Boozer angles: n = ixn/nfp, ι → −ι, buco → −buco, then both
// covariant components turned over where B_ζ + ι·B_θ < 0. ψ' is `psi_prime` where given, else
// 2 (phi_edge/2π) √psi_n / minor_radius; one of the two is needed.
Surface read_booz(const std::string& path, double psi_n, std::optional<double> psi_prime,
                  std::optional<double> minor_radius);

// Whatever a request asks for. Throws UserError that names the file or the value.
Surface load_surface(const SurfaceRequest& request);

}  // namespace assay::transport
