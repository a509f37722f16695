// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Products over semirings and message passing on a device: assay.semiring. `stream` and `empty` are
// as lane_of() and DeviceResult take them.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>
#include <span>

#include "bindings/argument.h"
#include "bindings/cuda/device_arguments.h"
#include "bindings/cuda/lanes.h"
#include "bindings/cuda/module.h"
#include "einsum/labels/layout.h"
#include "semiring/cuda/edges.h"
#include "semiring/cuda/matmul.h"
#include "semiring/problem.h"

namespace assay::python::cuda {
namespace {

namespace nb = nanobind;
using semiring::cuda::Scalar;

Scalar scalar_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return Scalar::kF32;
    case DType::kF64:
      return Scalar::kF64;
    case DType::kBool:
      return Scalar::kBool;
    case DType::kF16:
      return Scalar::kF16;
    default:
      check(dtype == DType::kBF16, "algebras are in f16, bf16, f32, f64 or bool");
      return Scalar::kBF16;
  }
}

semiring::cuda::Strides strides_of(const TensorView& matrices) {
  return {matrices.stride(matrices.rank() - 2), matrices.stride(matrices.rank() - 1)};
}

void check_extents(std::initializer_list<std::int64_t> extents, const char* of) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() - 4096;
  for (const auto extent : extents) {
    if (extent > kMost) fail("{}: on a device an extent is at most {}, not {}", of, kMost, extent);
  }
}

// `whole`, a product of single matrices, for every batch: all of the longest loop at once.
void enqueue(semiring::cuda::Matmul whole, std::span<const semiring::BatchLoop> loops, Lane& lane) {
  std::vector<einsum::Loop> outer;
  if (!loops.empty()) {
    const auto& inner = loops.back();
    whole.batches = inner.extent;
    whole.a_strides.batch = inner.a;
    whole.b_strides.batch = inner.b;
    whole.c_strides.batch = inner.out;
    for (const auto& loop : loops.first(loops.size() - 1)) {
      outer.push_back({loop.extent, loop.a, loop.b, loop.out});
    }
  }
  const auto block = lane.take(workspace_bytes(whole));
  const auto bytes_of = [](Scalar scalar) {
    return scalar == Scalar::kF64    ? 8
           : scalar == Scalar::kF32  ? 4
           : scalar == Scalar::kBool ? 1
                                     : 2;
  };
  const bool is_half = whole.scalar == Scalar::kF16 || whole.scalar == Scalar::kBF16;
  const std::int64_t factor = bytes_of(whole.scalar), result = is_half ? 4 : factor;
  einsum::Odometer at(outer);
  at.seek(0);
  for (std::int64_t i = 0; i < einsum::iterations(outer); ++i, at.next()) {
    auto part = whole;
    part.a = static_cast<const char*>(whole.a) + at.a() * factor;
    part.b = static_cast<const char*>(whole.b) + at.b() * factor;
    part.c = static_cast<char*>(whole.c) + at.c() * result;
    semiring::cuda::matmul(part, block.data, lane.stream());
  }
}

nb::object matmul(nb::handle a, nb::handle b, nb::handle algebra_name, nb::handle out,
                  nb::handle stream, nb::handle empty) {
  const auto algebra =
      semiring::algebra_from_name(text_argument(algebra_name, "algebra"), "algebra");
  DeviceArguments arguments;
  const TensorView& left = arguments.borrow(a, {"matmul: a"}).view();
  const TensorView& right = arguments.borrow(b, {"matmul: b"}).view();
  const auto problem = semiring::matmul_problem(algebra, left, right);
  check_extents({problem.m, problem.k, problem.n}, "matmul");
  const auto lane = lane_of(arguments.device(), stream);
  const DType dtype = semiring::working_dtype(left.dtype());
  DeviceResult result(arguments, out, empty, {"matmul: out"}, dtype, problem.out_shape());
  const TensorView to = result.view();
  check_output(problem, to);
  if (to.dtype() != dtype) {
    fail("matmul: out: of {} on a device it is {}, not {}", name_of(left.dtype()), name_of(dtype),
         name_of(to.dtype()));
  }
  semiring::cuda::Matmul product;
  product.algebra = algebra;
  product.scalar = scalar_of(left.dtype());
  product.m = problem.m, product.k = problem.k, product.n = problem.n;
  product.a = problem.a.raw_data(), product.a_strides = strides_of(problem.a);
  product.b = problem.b.raw_data(), product.b_strides = strides_of(problem.b);
  product.c = result.tensor().data(), product.c_strides = strides_of(to);
  if (to.element_count() > 0) {
    lane->run([&] {
      const bool is_half = left.dtype() == DType::kF16 || left.dtype() == DType::kBF16;
      if (is_half && algebra == semiring::Algebra::kReal) product.library = lane->library();
      enqueue(product, batch_loops(problem, to), *lane);
    });
  }
  return std::move(result).finish();
}

// The kernels do not look whether a source is there, and what they read elsewhere may end the
// process: this looks, and waits for what it finds.
void check_indices(const semiring::cuda::Edges& edges, semiring::EdgeReduce reduce, char* memory,
                   Lane& lane) {
  auto* const first = reinterpret_cast<std::int64_t*>(memory);
  find_wrong_index(edges, first, lane.stream());
  std::int64_t at = -1;
  kernels::cuda::copy_to_host(&at, first, sizeof at, lane.stream());
  if (at < 0) return;
  const std::int64_t row = at / edges.slots, slot = at % edges.slots;
  std::int32_t source = 0;
  kernels::cuda::copy_to_host(
      &source, edges.idx + row * edges.idx_strides.row + slot * edges.idx_strides.column,
      sizeof source, lane.stream());
  fail("{} ell_edge_aggregate: idx in row {}, slot {} is neither -1 nor a row of x ({}): {}",
       name_of(reduce), row, slot, edges.sources, source);
}

nb::object ell_edge_aggregate(nb::handle values, nb::handle indices, nb::handle x, nb::handle w,
                              nb::handle reduce_name, nb::handle stream, nb::handle empty) {
  const auto reduce =
      semiring::edge_reduce_from_name(text_argument(reduce_name, "reduce"), "reduce");
  DeviceArguments arguments;
  const auto borrow = [&](nb::handle array, const char* name) -> const TensorView& {
    return arguments.borrow(array, {name}).view();
  };
  const TensorView& v = borrow(values, "ell_aggregate: values");
  const TensorView& idx = borrow(indices, "ell_aggregate: indices");
  const TensorView& rows = borrow(x, "ell_aggregate: x");
  const TensorView& weights = borrow(w, "ell_aggregate: w");
  const auto problem = semiring::edge_problem(reduce, v, idx, rows, weights);
  const DType dtype = weights.dtype();
  if (dtype != DType::kF32 && dtype != DType::kF64) {
    fail("ell_aggregate: on a device it is computed in f32 or f64, not {}", name_of(dtype));
  }
  check_extents({problem.ell.sources, problem.ell.features, problem.outputs}, "ell_aggregate");
  const auto lane = lane_of(arguments.device(), stream);
  const Shape shape({problem.ell.rows, problem.outputs});
  DeviceResult result(arguments, nb::none(), empty, {"result"}, dtype, shape);
  semiring::cuda::Edges edges;
  edges.is_max = reduce == semiring::EdgeReduce::kMax;
  edges.scalar = scalar_of(dtype);
  edges.rows = problem.ell.rows, edges.slots = problem.ell.slots;
  edges.sources = problem.ell.sources, edges.features = problem.ell.features;
  edges.outputs = problem.outputs;
  edges.v = v.raw_data(), edges.v_strides = strides_of(v);
  edges.idx = idx.data<std::int32_t>(), edges.idx_strides = strides_of(idx);
  edges.x = rows.raw_data(), edges.x_strides = strides_of(rows);
  edges.w = weights.raw_data(), edges.w_strides = strides_of(weights);
  edges.out = result.tensor().data(), edges.out_strides = strides_of(result.view());
  if (shape.element_count() > 0 || problem.ell.rows * problem.ell.slots > 0) {
    lane->run([&] {
      const auto found = lane->take(sizeof(std::int64_t));
      check_indices(edges, reduce, found.data, *lane);
      const auto block = lane->take(workspace_bytes(edges));
      aggregate_edges(edges, block.data, lane->stream());
    });
  }
  return std::move(result).finish();
}

}  // namespace

void bind_semiring(nb::module_& module) {
  module.def("semiring_matmul", &matmul, nb::arg("a").none(), nb::arg("b").none(),
             nb::arg("algebra").none(), nb::arg("out").none(), nb::arg("stream").none(),
             nb::arg("empty").none());
  module.def("ell_edge_aggregate", &ell_edge_aggregate, nb::arg("values").none(),
             nb::arg("indices").none(), nb::arg("x").none(), nb::arg("w").none(),
             nb::arg("reduce").none(), nb::arg("stream").none(), nb::arg("empty").none());
}

}  // namespace assay::python::cuda
