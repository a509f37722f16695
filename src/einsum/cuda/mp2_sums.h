// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cuda/device.h"

namespace assay::einsum::cuda {

// Pairs of one occupied orbital i with others, j = first_j, …: T of each is a tile of nvir × nvir
// whose rows lie `ld` apart, and tiles lie beside each other in the rows.
struct PairTiles {
  const double* t = nullptr;
  std::int64_t ld = 0;
  int nvir = 0, pairs = 0;
  int i = 0, first_j = 0;
};

// Sums over the pairs of (x² + y²)/Δ and (x − y)²/Δ, x = T_ab, y = T_ba, weighed as mp2.h has it.
// Energies of orbitals are the device's. Writes a number of sums that depends on nvir and pairs
// alone to sums[0], sums[1], …: opposite and same spin by turns; all of them are added up by
// add_energies(). Returns when it is enqueued.
void sum_pairs(const PairTiles& tiles, const double* occupied, const double* virtuals, double* sums,
               kernels::cuda::Stream stream);
// How many pairs of numbers sum_pairs writes for each pair of orbitals.
std::int64_t sums_of_pair(int nvir);

// energy: total, opposite spin, same spin. In a fixed order, compensated.
void add_energies(const double* sums, std::int64_t count, double* energy,
                  kernels::cuda::Stream stream);

}  // namespace assay::einsum::cuda
