// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/problem.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/names.h"
#include "tensor/overlap.h"

namespace assay::semiring {
namespace {

constexpr auto kEdgeReduces =
    make_names<EdgeReduce>({{EdgeReduce::kSum, "sum"}, {EdgeReduce::kMax, "max"}});

bool is_short_float(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

void check_dtype(Algebra algebra, DType dtype, std::string_view what) {
  std::string_view allowed = "f16, bf16, f32 or f64";
  bool fits = is_floating(dtype);
  if (algebra == Algebra::kBoolean) {
    allowed = "bool";
    fits = dtype == DType::kBool;
  } else if (algebra == Algebra::kMaxPlus || algebra == Algebra::kMinPlus) {
    allowed = "f32 or f64";
    fits = dtype == DType::kF32 || dtype == DType::kF64;
  }
  if (!fits) fail("{} takes {}, got {}", what, allowed, name_of(dtype));
}

// The leading axes of both, broadcast against each other, the last two left out.
Shape common_batch(const Shape& a, const Shape& b, std::string_view what) {
  const std::size_t rank = std::max(a.rank(), b.rank()) - 2;
  Axes extents(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {  // counted from the innermost batch axis
    const std::int64_t from_a = axis + 2 < a.rank() ? a[a.rank() - 3 - axis] : 1;
    const std::int64_t from_b = axis + 2 < b.rank() ? b[b.rank() - 3 - axis] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      fail("{}: batches of shapes {} and {} do not fit: {} against {}", what, a.to_string(),
           b.to_string(), from_a, from_b);
    }
    extents[rank - 1 - axis] = from_a == 1 ? from_b : from_a;
  }
  return Shape(std::move(extents));
}

Shape with_matrix(const Shape& batch, std::int64_t rows, std::int64_t columns) {
  Axes extents(batch.rank() + 2);
  for (std::size_t axis = 0; axis < batch.rank(); ++axis) extents[axis] = batch[axis];
  extents[batch.rank()] = rows;
  extents[batch.rank() + 1] = columns;
  return Shape(std::move(extents));
}

TensorView matrix_of(const TensorView& view, const Shape& batch, std::int64_t index) {
  std::int64_t rest = batch.element_count();
  TensorView matrix = view;
  for (std::size_t axis = 0; axis < batch.rank(); ++axis) {
    rest /= batch[axis];
    matrix = matrix.select(0, index / rest);
    index %= rest;
  }
  return matrix;
}

EllProblem checked_ell(const TensorView& v, const TensorView& idx, const TensorView& x,
                       std::string_view what) {
  if (v.rank() != 2 || x.rank() != 2 || idx.rank() != 2 || v.shape() != idx.shape()) {
    fail(
        "{}: expected v and idx of one shape (rows, slots) and x (sources, features), got {}, {} "
        "and {}",
        what, v.shape().to_string(), idx.shape().to_string(), x.shape().to_string());
  }
  if (v.dtype() != x.dtype()) {
    fail("{}: v and x have different dtypes, {} and {}", what, name_of(v.dtype()),
         name_of(x.dtype()));
  }
  if (idx.dtype() != DType::kI32) fail("{}: idx must be i32, got {}", what, name_of(idx.dtype()));
  return {v, idx, x, v.extent(0), v.extent(1), x.extent(0), x.extent(1)};
}

}  // namespace

std::string_view name_of(EdgeReduce reduce) { return kEdgeReduces[reduce]; }

EdgeReduce edge_reduce_from_name(std::string_view name, std::string_view what) {
  if (const auto reduce = kEdgeReduces.find(name)) return *reduce;
  fail("{}: expected sum or max, got '{}'", what, name);
}

DType working_dtype(DType dtype) { return is_short_float(dtype) ? DType::kF32 : dtype; }

Shape MatmulProblem::out_shape() const { return with_matrix(batch, m, n); }

TensorView MatmulProblem::a_of(std::int64_t batch_index) const {
  return matrix_of(a, batch, batch_index);
}

TensorView MatmulProblem::b_of(std::int64_t batch_index) const {
  return matrix_of(b, batch, batch_index);
}

MatmulProblem matmul_problem(Algebra algebra, const TensorView& a, const TensorView& b) {
  const std::string what = std::string(name_of(algebra)) + " matmul";
  if (a.rank() < 2 || b.rank() < 2) {
    fail("{}: expected matrices, got shapes {} and {}", what, a.shape().to_string(),
         b.shape().to_string());
  }
  const std::int64_t m = a.extent(a.rank() - 2), k = a.extent(a.rank() - 1);
  const std::int64_t k_of_b = b.extent(b.rank() - 2), n = b.extent(b.rank() - 1);
  if (k != k_of_b) {
    fail("{}: shapes {} and {} do not fit: {} columns against {} rows", what, a.shape().to_string(),
         b.shape().to_string(), k, k_of_b);
  }
  if (a.dtype() != b.dtype()) {
    fail("{}: different dtypes, {} and {}", what, name_of(a.dtype()), name_of(b.dtype()));
  }
  check_dtype(algebra, a.dtype(), what);
  const Shape batch = common_batch(a.shape(), b.shape(), what);
  const auto in_batch = [&](const TensorView& x, std::int64_t rows, std::int64_t columns) {
    return batch.rank() == 0 ? x : x.broadcast(with_matrix(batch, rows, columns));
  };
  return {algebra, in_batch(a, m, k), in_batch(b, k, n), batch, batch.element_count(), m, k, n};
}

std::vector<BatchLoop> batch_loops(const MatmulProblem& problem, const TensorView& out) {
  std::vector<BatchLoop> loops;
  for (std::size_t axis = 0; axis < problem.batch.rank(); ++axis) {
    const BatchLoop inner{problem.batch[axis], problem.a.stride(axis), problem.b.stride(axis),
                          out.stride(axis)};
    if (inner.extent == 1) continue;
    const auto joins = [&](std::int64_t BatchLoop::*stride) {
      return loops.back().*stride == inner.extent * inner.*stride;
    };
    if (!loops.empty() && joins(&BatchLoop::a) && joins(&BatchLoop::b) && joins(&BatchLoop::out)) {
      loops.back() = {loops.back().extent * inner.extent, inner.a, inner.b, inner.out};
    } else {
      loops.push_back(inner);
    }
  }
  const auto longest = std::ranges::max_element(loops, {}, &BatchLoop::extent);
  if (longest != loops.end()) std::iter_swap(longest, loops.end() - 1);
  return loops;
}

EllProblem ell_problem(Algebra algebra, const TensorView& v, const TensorView& idx,
                       const TensorView& x) {
  const std::string what = std::string(name_of(algebra)) + " ell_matmul";
  EllProblem ell = checked_ell(v, idx, x, what);
  check_dtype(algebra, x.dtype(), what);
  return ell;
}

void check_indices(const EllProblem& ell, std::string_view of, std::string_view operation) {
  const auto* indices = ell.idx.data<std::int32_t>();
  for (std::int64_t i = 0; i < ell.rows; ++i) {
    for (std::int64_t p = 0; p < ell.slots; ++p) {
      const std::int32_t source = indices[i * ell.idx.stride(0) + p * ell.idx.stride(1)];
      if (source < -1 || source >= ell.sources) {
        fail("{} {}: idx in row {}, slot {} is neither -1 nor a row of x ({}): {}", of, operation,
             i, p, ell.sources, source);
      }
    }
  }
}

EdgeProblem edge_problem(EdgeReduce reduce, const TensorView& v, const TensorView& idx,
                         const TensorView& x, const TensorView& w) {
  const std::string what = std::string(name_of(reduce)) + " ell_edge_aggregate";
  EllProblem ell = checked_ell(v, idx, x, what);
  check_dtype(Algebra::kReal, x.dtype(), what);
  if (w.rank() != 2 || w.extent(1) != ell.features) {
    fail("{}: w of shape {} does not fit x of shape {}", what, w.shape().to_string(),
         x.shape().to_string());
  }
  if (w.dtype() != x.dtype()) {
    fail("{}: w and x have different dtypes, {} and {}", what, name_of(w.dtype()),
         name_of(x.dtype()));
  }
  return {reduce, std::move(ell), w, w.extent(0)};
}

void check_output(const TensorView& out, const Shape& expected, DType inputs, std::string_view of,
                  std::string_view operation) {
  if (out.shape() != expected) {
    fail("{} {}: the output has shape {}, expected {}", of, operation, out.shape().to_string(),
         expected.to_string());
  }
  if (out.dtype() != inputs && out.dtype() != working_dtype(inputs)) {
    fail("{} {}: the output of {} inputs cannot be {}", of, operation, name_of(inputs),
         name_of(out.dtype()));
  }
}

void check_output(const MatmulProblem& problem, const TensorView& out) {
  const auto of = name_of(problem.algebra);
  check_output(out, problem.out_shape(), problem.a.dtype(), of, "matmul");
  if (const auto stride = overlapping_stride(out)) {
    fail("{} matmul: elements of the output overlap: an axis has stride {}", of, *stride);
  }
  for (const auto* input : {&problem.a, &problem.b}) {
    if (!overlap(out, *input)) continue;
    fail("{} matmul: the output shares memory with {}", of, input == &problem.a ? "a" : "b");
  }
}

}  // namespace assay::semiring
