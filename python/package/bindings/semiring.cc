// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Products over semirings, their gradients, and message passing: assay.semiring.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/names.h"
#include "bindings/argument.h"
#include "bindings/arrays.h"
#include "bindings/frameworks.h"
#include "bindings/module.h"
#include "bindings/threads.h"
#include "semiring/ell.h"
#include "semiring/ell_grad.h"
#include "semiring/grad.h"
#include "semiring/matmul.h"

namespace assay::python {
namespace {

namespace nb = nanobind;
using semiring::Backend;

constexpr auto kBackends = make_names<Backend>(
    {{Backend::kReference, "reference"}, {Backend::kNaive, "naive"}, {Backend::kSimd, "simd"}});

Backend backend_argument(nb::handle name) {
  return kBackends.parse(text_argument(name, "backend"), "backend");
}
semiring::Algebra algebra_argument(nb::handle name) {
  return semiring::algebra_from_name(text_argument(name, "algebra"), "algebra");
}
semiring::EdgeReduce reduce_argument(nb::handle name) {
  return semiring::edge_reduce_from_name(text_argument(name, "reduce"), "reduce");
}

semiring::MatmulOptions matmul_options(nb::handle backend) {
  semiring::MatmulOptions options{.backend = backend_argument(backend)};
  options.simd.threads = threads_of_call();
  return options;
}

// f16 and bf16 are added up in f32, and that is what comes out where nobody gave an `out`.
DType result_dtype(DType input) {
  return input == DType::kF16 || input == DType::kBF16 ? DType::kF32 : input;
}

// Whose array the result is: the first of the two that is not NumPy's.
Framework framework_of(nb::handle a, nb::handle b) {
  const auto first = python::framework_of(a);
  return first == Framework::kNumpy ? python::framework_of(b) : first;
}

nb::object matmul(nb::handle a, nb::handle b, nb::handle algebra_name, nb::handle out,
                  nb::handle backend) {
  const auto algebra = algebra_argument(algebra_name);
  const auto options = matmul_options(backend);
  const BorrowedArray left(a, {"matmul: a"}), right(b, {"matmul: b"});
  const auto problem = semiring::matmul_problem(algebra, left.view(), right.view());
  const auto run = [&](const MutableTensorView& to) {
    without_gil([&] { semiring::matmul(algebra, left.view(), right.view(), to, options); });
  };
  if (!out.is_none()) {
    const BorrowedArray given(out, {"matmul: out"}, BorrowedArray::Use::kWrite);
    run(given.mutable_view());
    return nb::borrow(out);
  }
  NewArray made(framework_of(a, b), result_dtype(left.view().dtype()), problem.out_shape());
  run(made.view());
  return std::move(made).finish();
}

nb::object matmul_gradients(nb::handle a, nb::handle b, nb::handle c, nb::handle dc,
                            nb::handle algebra_name, nb::handle backend) {
  const auto algebra = algebra_argument(algebra_name);
  const auto options = matmul_options(backend);
  const BorrowedArray left(a, {"matmul: a"}), right(b, {"matmul: b"}), product(c, {"matmul: c"}),
      change(dc, {"matmul: dc"});
  auto gradients = without_gil([&] {
    return semiring::matmul_gradients(algebra, left.view(), right.view(), product.view(),
                                      change.view(), options);
  });
  const auto framework = framework_of(a, b);
  return nb::make_tuple(to_array(framework, std::move(gradients.a)),
                        to_array(framework, std::move(gradients.b)));
}

semiring::EllOptions ell_options(nb::handle backend) {
  semiring::EllOptions options{.backend = backend_argument(backend)};
  options.simd.threads = threads_of_call();
  return options;
}

// The neighbours of every vertex, and what is to be taken from them.
struct Neighbours {
  Neighbours(nb::handle values, nb::handle indices, nb::handle rows)
      : v(values, {"ell_aggregate: values"}),
        idx(indices, {"ell_aggregate: indices"}),
        x(rows, {"ell_aggregate: x"}),
        framework(framework_of(values, rows)) {}
  BorrowedArray v, idx, x;
  Framework framework;
};

nb::object ell_matmul(nb::handle values, nb::handle indices, nb::handle x, nb::handle algebra_name,
                      nb::handle backend) {
  const auto algebra = algebra_argument(algebra_name);
  const auto options = ell_options(backend);
  const Neighbours of(values, indices, x);
  const auto problem = semiring::ell_problem(algebra, of.v.view(), of.idx.view(), of.x.view());
  NewArray made(of.framework, result_dtype(problem.x.dtype()),
                Shape({problem.rows, problem.features}));
  without_gil([&] {
    semiring::ell_matmul(algebra, problem.v, problem.idx, problem.x, made.view(), options);
  });
  return std::move(made).finish();
}

nb::object ell_edge_aggregate(nb::handle values, nb::handle indices, nb::handle x, nb::handle w,
                              nb::handle reduce_name, nb::handle backend) {
  const auto reduce = reduce_argument(reduce_name);
  const auto options = ell_options(backend);
  const Neighbours of(values, indices, x);
  const BorrowedArray weights(w, {"ell_aggregate: w"});
  const auto problem =
      semiring::edge_problem(reduce, of.v.view(), of.idx.view(), of.x.view(), weights.view());
  NewArray made(of.framework, result_dtype(problem.w.dtype()),
                Shape({problem.ell.rows, problem.outputs}));
  without_gil([&] {
    semiring::ell_edge_aggregate(reduce, problem.ell.v, problem.ell.idx, problem.ell.x, problem.w,
                                 made.view(), options);
  });
  return std::move(made).finish();
}

nb::tuple ell_matmul_gradients(nb::handle values, nb::handle indices, nb::handle x, nb::handle out,
                               nb::handle change, nb::handle algebra_name) {
  const auto algebra = algebra_argument(algebra_name);
  const Neighbours of(values, indices, x);
  const BorrowedArray result(out, {"ell_aggregate: result"}),
      gradient(change, {"ell_aggregate: gradient"});
  auto found = without_gil([&] {
    return semiring::ell_matmul_gradients(algebra, of.v.view(), of.idx.view(), of.x.view(),
                                          result.view(), gradient.view());
  });
  return nb::make_tuple(to_array(of.framework, std::move(found.v)),
                        to_array(of.framework, std::move(found.x)));
}

nb::tuple ell_edge_gradients(nb::handle values, nb::handle indices, nb::handle x, nb::handle w,
                             nb::handle change, nb::handle reduce_name, nb::handle backend) {
  const auto reduce = reduce_argument(reduce_name);
  const auto options = ell_options(backend);
  const Neighbours of(values, indices, x);
  const BorrowedArray weights(w, {"ell_aggregate: w"}),
      gradient(change, {"ell_aggregate: gradient"});
  auto found = without_gil([&] {
    return semiring::ell_edge_gradients(reduce, of.v.view(), of.idx.view(), of.x.view(),
                                        weights.view(), gradient.view(), options);
  });
  return nb::make_tuple(to_array(of.framework, std::move(found.v)),
                        to_array(of.framework, std::move(found.x)),
                        to_array(of.framework, std::move(found.w)));
}

// Shapes of results, and whether they can be had at all, without a look at any element.
std::vector<std::int64_t> extents_of(const Shape& shape) {
  return {shape.extents().begin(), shape.extents().end()};
}
std::vector<std::int64_t> matmul_shape(nb::handle a, nb::handle b, nb::handle algebra_name,
                                       nb::handle backend) {
  backend_argument(backend);
  const BorrowedArray left(a, {"matmul: a"}), right(b, {"matmul: b"});
  const auto algebra = algebra_argument(algebra_name);
  return extents_of(semiring::matmul_problem(algebra, left.view(), right.view()).out_shape());
}
std::vector<std::int64_t> ell_shape(nb::handle values, nb::handle indices, nb::handle x,
                                    nb::handle algebra_name, nb::handle backend) {
  backend_argument(backend);
  const auto algebra = algebra_argument(algebra_name);
  const Neighbours of(values, indices, x);
  const auto problem = semiring::ell_problem(algebra, of.v.view(), of.idx.view(), of.x.view());
  return {problem.rows, problem.features};
}
std::vector<std::int64_t> edge_shape(nb::handle values, nb::handle indices, nb::handle x,
                                     nb::handle w, nb::handle reduce_name, nb::handle backend) {
  backend_argument(backend);
  const auto reduce = reduce_argument(reduce_name);
  const Neighbours of(values, indices, x);
  const BorrowedArray weights(w, {"ell_aggregate: w"});
  const auto problem =
      semiring::edge_problem(reduce, of.v.view(), of.idx.view(), of.x.view(), weights.view());
  return {problem.ell.rows, problem.outputs};
}

// Functions whose arguments may be whatever is given, None too: who reads them says which is wrong.
template <typename>
auto any_argument() {
  return nb::arg().none();
}
template <typename Result, typename... Given>
void add(nb::module_& module, const char* name, Result (*function)(Given...)) {
  module.def(name, function, any_argument<Given>()...);
}

}  // namespace

void bind_semiring(nb::module_& module) {
  add(module, "semiring_matmul", &matmul);
  add(module, "semiring_matmul_gradients", &matmul_gradients);
  add(module, "ell_matmul", &ell_matmul);
  add(module, "ell_edge_aggregate", &ell_edge_aggregate);
  add(module, "ell_matmul_gradients", &ell_matmul_gradients);
  add(module, "ell_edge_gradients", &ell_edge_gradients);
  add(module, "semiring_matmul_shape", &matmul_shape);
  add(module, "ell_shape", &ell_shape);
  add(module, "ell_edge_shape", &edge_shape);
}

}  // namespace assay::python
