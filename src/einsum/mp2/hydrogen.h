// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chains of hydrogen atoms in s-type Gaussians: a complete, small path from nuclei to orbitals and
// factorised integrals, so that energies can be checked against known ones without other programs.

#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace assay::einsum {

enum class HydrogenBasis { kSto3g, k631g };
// "sto-3g", "6-31g". Throws UserError.
HydrogenBasis hydrogen_basis_from_name(std::string_view name);

struct HydrogenChain {
  int atoms = 2;         // even
  double spacing = 1.4;  // bohr
  HydrogenBasis basis = HydrogenBasis::kSto3g;
};

struct MeanField {
  double energy = 0;  // hartree, nuclear repulsion included
  int iterations = 0;
  std::vector<double> orbital_energies;
  Tensor coefficients = Tensor(DType::kF64, Shape());  // basis function × orbital
  // (mn|ls) ≈ Σ_P B_mnP B_lsP by pivoted Cholesky factorisation: basis × basis × naux.
  Tensor b = Tensor(DType::kF64, Shape());
  int occupied = 0;
};

// Restricted Hartree–Fock. Integrals are factorised to `cholesky` hartree. Throws UserError: an odd
// or too large number of atoms, atoms on top of each other, or no convergence.
MeanField solve_mean_field(const HydrogenChain& chain, double cholesky = 1e-11);

}  // namespace assay::einsum
