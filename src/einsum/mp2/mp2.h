// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Density-fitted second-order Møller–Plesset energy:
//
//   T_ijab = Σ_P B_iaP B_jbP,   E = Σ T_ijab (2 T_ijab − T_ijba) / (ε_i + ε_j − ε_a − ε_b)
//
// Fused: no four-index tensor exists. Tiles of T are made by matrix products for some pairs i ≤ j,
// stay in the second-level cache, and are summed up there; nocc(nocc+1)·nvir²·naux operations, a
// quarter of the form with two matrix products over all pairs. docs/methods/einsum.md has the
// tiling.

#include <cstdint>
#include <span>

#include "einsum/einsum.h"
#include "tensor/view.h"

namespace assay::einsum {

struct Mp2Energy {
  double total = 0, opposite_spin = 0, same_spin = 0;  // hartree; total = opposite + same
};

struct Mp2Options {
  // Lowest occupied and highest virtual orbitals that are left out.
  std::int64_t frozen_occupied = 0, frozen_virtual = 0;
  int threads = 1;
};

// b: nocc × nvir × naux, f32 or f64, computed in f64. Orbital energies in the order of b's axes,
// any order otherwise. Sums are compensated and joined in a fixed order: the same bits for any
// number of threads. Throws UserError: shapes that do not fit, or a denominator that is not
// negative.
Mp2Energy mp2_energy(const TensorView& b, std::span<const double> occupied,
                     std::span<const double> virtuals, const Mp2Options& options = {});

// What frozen ranges leave of a problem.
struct ActiveOrbitals {
  TensorView b;
  std::span<const double> occupied, virtuals;
};
// Throws UserError as mp2_energy does, but for numbers in b.
ActiveOrbitals active_orbitals(const TensorView& b, std::span<const double> occupied,
                               std::span<const double> virtuals, const Mp2Options& options);
// The energy, if it is finite; else throws UserError that names what in the active part of b,
// dense and in f64, is not.
Mp2Energy finite_energy(const Mp2Energy& energy, const TensorView& dense,
                        const Mp2Options& options);

// B_iaP = Σ_mn C_mi C_na B_mnP.
Tensor ao_to_mo(Engine& engine, const TensorView& b_ao, const TensorView& c_occupied,
                const TensorView& c_virtual);

// nocc(nocc+1)·nvir²·naux.
double mp2_flop(std::int64_t nocc, std::int64_t nvir, std::int64_t naux);

}  // namespace assay::einsum
