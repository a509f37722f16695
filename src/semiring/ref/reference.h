// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The plain form of every operation, and what oracles are made of: inputs widened to f64 (exact),
// terms taken one after the other in the order of k (or of the slots), accumulated in f64, nothing
// fused. Threads share out rows, which changes no bit. The error of an output element is that of k
// roundings in f64: for f32 inputs far below the last bit, for f64 inputs as large as any other f64
// implementation's.
//
// Results are f64, for boolean bool. Functions ending in _rows compute only the rows of the output
// that are asked for, in the order asked, at the cost of those rows alone: a seeded sample of a
// large output. A row may be asked for twice; one outside the output is a bug (InternalError).

#include <cstdint>
#include <span>

#include "semiring/problem.h"
#include "tensor/tensor.h"

namespace assay::semiring {

// (…, m, n). Cost: batches·m·k·n terms; memory beside the result: one batch of b and a row of a.
Tensor reference_matmul(const MatmulProblem& problem);
// (rows.size(), n). Row r counts all rows of the output: batch r / m, row r % m of its matrix.
Tensor reference_matmul_rows(const MatmulProblem& problem, std::span<const std::int64_t> rows);

// (rows, features).
Tensor reference_ell_matmul(Algebra algebra, const EllProblem& problem);
Tensor reference_ell_matmul_rows(Algebra algebra, const EllProblem& problem,
                                 std::span<const std::int64_t> rows);

// (rows, outputs). Computes W·x once for each source that the asked rows name, then weighs and
// reduces: rows·slots·outputs + sources·features·outputs terms.
Tensor reference_ell_edge_aggregate(const EdgeProblem& problem);
Tensor reference_ell_edge_aggregate_rows(const EdgeProblem& problem,
                                         std::span<const std::int64_t> rows);

// For callers with views in hand: matmul_problem() and reference_matmul_rows() in one.
Tensor reference_rows(Algebra algebra, const TensorView& a, const TensorView& b,
                      std::span<const std::int64_t> rows);

}  // namespace assay::semiring
