// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Surfaces from `boozmn` files, which booz_xform makes of VMEC's `wout` files.

#include <optional>
#include <string>

#include "transport/surface/surface.h"

namespace assay::transport {

// Where ψ' comes from: `psi_prime` where given (its modulus: r points outward), else
// 2 ψ_a √psi_n / a with ψ_a from phi_b or the wout, and a from `minor_radius`, the file, the wout.
struct BoozFlux {
  std::optional<double> psi_prime;     // [T·m]
  std::optional<double> minor_radius;  // [m]
  // The `wout` file that the Boozer file was made of. Empty: where flux or radius are missing, the
  // one beside it by booz_xform's names (boozmn_X.nc, wout_X.nc). Refused where it is another's.
  std::string wout;
};

// The surface with normalised toroidal flux psi_n, in the file's own Boozer angles: phase
// mθ + n·nfp·ζ with n = −ixn/nfp, sine terms too (bmns_b). Values on the half mesh are interpolated
// by cubics (mesh.h). Where B_ζ + ι·B_θ < 0 both angles are turned, so that B^ζ > 0. The angles are
// as left-handed as VMEC's: the wout says so, or R and Z in the file; VMEC's habit is left-handed.
// Throws UserError that names the file.
Surface read_booz(const std::string& path, double psi_n, const BoozFlux& flux);

// The `wout` beside a Boozer file by booz_xform's names; empty where there is none.
std::string wout_beside(const std::string& booz_path);

}  // namespace assay::transport
