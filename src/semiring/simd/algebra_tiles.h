// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The register tiles of the algebras that are not real, of the best instruction set of this
// machine.

#include <cstdint>

#include "kernels/tiles/tile_kernels.h"

namespace assay::semiring::simd {

// Where ⊕ is a comparison. The careful form keeps NaN whatever the terms are; the plain one does so
// only if every NaN among the terms is in C already.
template <typename T>
struct CompareTiles {
  kernels::TileKernels<T> plain, careful;
};

const CompareTiles<float>& max_plus_tiles(float);
const CompareTiles<double>& max_plus_tiles(double);
const CompareTiles<float>& min_plus_tiles(float);
const CompareTiles<double>& min_plus_tiles(double);
// ⊗ is bitwise and, ⊕ bitwise or: 32 columns of a boolean product in each element of b and c.
const kernels::TileKernels<std::uint32_t>& bit_tiles();

}  // namespace assay::semiring::simd
