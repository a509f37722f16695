// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Surfaces from VMEC's `wout` files.

#include <string>

#include "transport/surface/surface.h"

namespace assay::transport {

// The surface with normalised toroidal flux psi_n, in VMEC's angles. Values on the half mesh are
// interpolated by cubics in the flux (mesh.h), and continued by half a cell at the ends.
//   phase mθ + n·nfp·ζ with n = −xn/nfp;  ψ = s·ψ_a, ψ_a = |phi_edge|/2π, so that r points outward
//   J = gmnc/ψ_a with its sign (VMEC's angles are left-handed: signgs = −1)
//   dψ/dr = 2 ψ_a √psi_n / Aminor_p
// Throws UserError that names the file: asymmetric equilibria (lasym), a Jacobian that changes its
// sign, B² that is not B^θ B_θ + B^ζ B_ζ, iotaf that is not ⟨B^θ⟩/⟨B^ζ⟩.
Surface read_vmec(const std::string& path, double psi_n);

// What a `wout` file says of the flux surface psi_n beyond the field on it.
struct VmecFacts {
  int nfp = 1;
  int handedness = -1;      // of VMEC's angles: the sign of gmnc
  double psi_edge = 0;      // |phi_edge|/2π [Wb]
  double minor_radius = 0;  // Aminor_p [m]
  double volume_radius = 0;  // √(V/(2π² R_00)), R_00 at the edge; Aminor_p where there is no volume
  double iota = 0;
  // Boozer's components, which are averages over VMEC's angles as well, signs as in the file [T·m].
  double boozer_i = 0, boozer_g = 0;
  // Means over Boozer's angles: ⟨a⟩_Boozer = Σ J B² a / Σ J B².
  double b00 = 0;  // [T]
  double r00 = 0;  // [m]; Rmajor_p where the file has no shape, 0 where it has neither
};
VmecFacts read_vmec_facts(const std::string& path, double psi_n);

}  // namespace assay::transport
