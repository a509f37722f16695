// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one writes first: every term a ⊗ b in an array of its own, then a reduction over it, all in
// the working dtype (f32 for f16, bf16 and f32 inputs; f64; bool), one term after the other. log
// subtracts the largest term of each output before the exponentials, as a practitioner knows to do.
//
// This backend is there to be compared with: it is right, and takes all the memory that its form
// needs. The *_bytes functions say how much, beside inputs and output, so that a caller can decline
// first. Results are in the working dtype.

#include "semiring/problem.h"
#include "tensor/tensor.h"

namespace assay::semiring {

// Terms: batches·m·k·n.
Tensor naive_matmul(const MatmulProblem& problem);
double naive_matmul_bytes(const MatmulProblem& problem);
double naive_matmul_bytes(Algebra algebra, DType dtype, std::int64_t batches, std::int64_t m,
                          std::int64_t k, std::int64_t n);

// Terms: rows·slots·features; an absent slot holds the zero of ⊕.
Tensor naive_ell_matmul(Algebra algebra, const EllProblem& problem);

// y = x Wᵀ for every source, then terms v·y: rows·slots·outputs.
Tensor naive_ell_edge_aggregate(const EdgeProblem& problem);
double naive_ell_edge_aggregate_bytes(DType dtype, std::int64_t rows, std::int64_t slots,
                                      std::int64_t sources, std::int64_t outputs);

}  // namespace assay::semiring
