// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is checked once, at the engine's entrance, so that no backend has to: dtypes, shapes,
// indices. Backends use these types, never the entrance itself (matmul.h, ell.h).

#include <cstdint>
#include <vector>

#include "semiring/algebra.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/view.h"

namespace assay::semiring {

// What ⊕ is over the edges of a vertex.
enum class EdgeReduce : std::uint8_t { kSum, kMax };

// "sum", "max".
std::string_view name_of(EdgeReduce reduce);
// Inverse of name_of. Throws UserError that names `what` and the text.
EdgeReduce edge_reduce_from_name(std::string_view name, std::string_view what);

// Who computes. Fast backends join this list as they are built.
enum class Backend : std::uint8_t {
  kReference,  // plain loops, fp64 accumulation, one rounding to the output's dtype
  kNaive,      // every term materialised in the working dtype, then reduced
  kSimd        // vector units and threads, working dtype (simd/matmul.h)
};

// What a matmul did. `recomputed` counts the entries whose fast result could not be certified and
// that were computed again term by term (log and euclidean on kSimd; elsewhere 0).
struct MatmulStats {
  std::int64_t entries = 0;
  std::int64_t recomputed = 0;

  // In [0, 1]; 0 for an empty product.
  double recomputed_share() const {
    return entries == 0 ? 0.0 : static_cast<double>(recomputed) / static_cast<double>(entries);
  }
};

// The dtype in which a backend other than the reference computes and accumulates: f32 for f16 and
// bf16, else the dtype itself.
DType working_dtype(DType dtype);

// A matmul of fitting inputs: `batches` products (m,k)·(k,n).
struct MatmulProblem {
  Algebra algebra;
  TensorView a, b;  // rank batch.rank() + 2; a batch axis that is repeated has stride 0
  Shape batch;      // the common leading axes
  std::int64_t batches, m, k, n;

  Shape out_shape() const;
  // The matrices of one batch, counted in row-major order of the batch axes.
  TensorView a_of(std::int64_t batch_index) const;
  TensorView b_of(std::int64_t batch_index) const;
};

// a is (…, m, k), b is (…, k, n); leading axes are equal or broadcast as NumPy does it. dtypes are
// equal: f32 or f64 (`boolean`: bool), and f16 or bf16 for real, log, euclidean.
// Throws UserError that names the algebra and both shapes or dtypes.
MatmulProblem matmul_problem(Algebra algebra, const TensorView& a, const TensorView& b);

// One of the loops over a product's batches, in elements from one to the next.
struct BatchLoop {
  std::int64_t extent = 1, a = 0, b = 0, out = 0;
  bool operator==(const BatchLoop&) const = default;
};
// As few as there can be, since axes that lie like one are one, and the longest last; none for a
// product without batch axes. `out` has the problem's out_shape().
std::vector<BatchLoop> batch_loops(const MatmulProblem& problem, const TensorView& out);

// Padded neighbour lists (ELL): row i has the slots p < slots, weights v_ip and sources idx_ip.
struct EllProblem {
  TensorView v, idx, x;  // (rows, slots), (rows, slots) i32, (sources, features)
  std::int64_t rows, slots, sources, features;
};

// Checks shapes and dtypes (those of `algebra`, see matmul_problem). Throws UserError that names
// them.
EllProblem ell_problem(Algebra algebra, const TensorView& v, const TensorView& idx,
                       const TensorView& x);

// Every index: −1 is an absent slot, all others lie in [0, sources). Throws UserError that names
// the row, slot and value of the first one outside. Apart from the rest because a backend that
// looks at each index anyway need not have it done twice.
void check_indices(const EllProblem& ell, std::string_view of, std::string_view operation);

// The same for ell_edge_aggregate, with w of (outputs, features); f16, bf16, f32, f64.
struct EdgeProblem {
  EdgeReduce reduce;
  EllProblem ell;
  TensorView w;
  std::int64_t outputs;
};
EdgeProblem edge_problem(EdgeReduce reduce, const TensorView& v, const TensorView& idx,
                         const TensorView& x, const TensorView& w);

// The output has the expected shape and the inputs' dtype, or f32 where they are f16 or bf16.
// Throws UserError naming what was to be computed ("real", "matmul") and both shapes or dtypes.
void check_output(const TensorView& out, const Shape& expected, DType inputs, std::string_view of,
                  std::string_view operation);
// The same of a product, whose output shares memory neither with its inputs nor with itself.
void check_output(const MatmulProblem& problem, const TensorView& out);

}  // namespace assay::semiring
