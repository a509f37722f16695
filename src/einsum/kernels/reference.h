// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <span>

#include "einsum/labels/notation.h"
#include "tensor/view.h"

namespace assay::einsum {

// out = alpha·contraction + beta·out by one nest of loops over all labels, products and sums in
// fp64 (complex where an operand is), rounded once. What every other way is held to; the work is
// the product of all extents. With beta 0, out is not read.
void contract_reference(const Problem& problem, std::span<const TensorView> operands,
                        const MutableTensorView& out, std::complex<double> alpha,
                        std::complex<double> beta);

// Bytes of the copies in fp64 that it makes of the operands and of out, which have these shapes.
double reference_bytes(std::span<const Shape> shapes, bool complex);

}  // namespace assay::einsum
