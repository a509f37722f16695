// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Products over semirings, their gradients, and message passing: assay.semiring.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "base/names.h"
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

semiring::MatmulOptions matmul_options(const std::string& backend) {
  semiring::MatmulOptions options{.backend = kBackends.parse(backend, "backend")};
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

nb::object matmul(nb::handle a, nb::handle b, const std::string& algebra_name, nb::handle out,
                  const std::string& backend) {
  const auto algebra = semiring::algebra_from_name(algebra_name, "algebra");
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
                            const std::string& algebra_name, const std::string& backend) {
  const auto algebra = semiring::algebra_from_name(algebra_name, "algebra");
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

semiring::EllOptions ell_options(const std::string& backend) {
  semiring::EllOptions options{.backend = kBackends.parse(backend, "backend")};
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

nb::object ell_matmul(nb::handle values, nb::handle indices, nb::handle x,
                      const std::string& algebra_name, const std::string& backend) {
  const auto algebra = semiring::algebra_from_name(algebra_name, "algebra");
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
                              const std::string& reduce_name, const std::string& backend) {
  const auto reduce = semiring::edge_reduce_from_name(reduce_name, "reduce");
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
                               nb::handle change, const std::string& algebra_name) {
  const auto algebra = semiring::algebra_from_name(algebra_name, "algebra");
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
                             nb::handle change, const std::string& reduce_name,
                             const std::string& backend) {
  const auto reduce = semiring::edge_reduce_from_name(reduce_name, "reduce");
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

}  // namespace

void bind_semiring(nb::module_& module) {
  module.def("semiring_matmul", &matmul, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
             nb::arg());
  module.def("semiring_matmul_gradients", &matmul_gradients);
  module.def("ell_matmul", &ell_matmul);
  module.def("ell_edge_aggregate", &ell_edge_aggregate);
  module.def("ell_matmul_gradients", &ell_matmul_gradients);
  module.def("ell_edge_gradients", &ell_edge_gradients);
}

}  // namespace assay::python
