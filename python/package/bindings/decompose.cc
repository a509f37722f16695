// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Decompositions and the DF-MP2 energy. Results are dictionaries, of which the package makes
// dataclasses (_decompose.py).
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "base/names.h"
#include "bindings/arrays.h"
#include "bindings/frameworks.h"
#include "bindings/module.h"
#include "bindings/threads.h"
#include "einsum/decompose/cp.h"
#include "einsum/decompose/tensor_train.h"
#include "einsum/decompose/tucker.h"
#include "einsum/mp2/mp2.h"

namespace assay::python {
namespace {

namespace nb = nanobind;

constexpr auto kInits = make_names<einsum::CpInit>(
    {{einsum::CpInit::kSvd, "svd"}, {einsum::CpInit::kRandom, "random"}});
constexpr auto kMethods =
    make_names<einsum::TuckerMethod>({{einsum::TuckerMethod::kHosvd, "hosvd"},
                                      {einsum::TuckerMethod::kStHosvd, "sthosvd"},
                                      {einsum::TuckerMethod::kHooi, "hooi"}});

constexpr auto kStops = make_names<einsum::CpStop>({{einsum::CpStop::kChange, "change"},
                                                    {einsum::CpStop::kTargetFit, "target_fit"},
                                                    {einsum::CpStop::kSweeps, "sweeps"}});

nb::list to_list(Framework framework, std::vector<Tensor> tensors) {
  nb::list list;
  for (auto& tensor : tensors) list.append(to_array(framework, std::move(tensor)));
  return list;
}

nb::dict cp(nb::handle x, std::int64_t rank, int sweeps, double change, const std::string& init,
            int restarts, bool nonnegative, std::uint64_t seed) {
  const auto start = kInits.find(init);
  if (!start) fail("cp: init is svd or random, not '{}'", init);
  if (restarts < 0) fail("cp: restarts is at least 0, not {}", restarts);
  const einsum::CpOptions options{.rank = rank,
                                  .max_sweeps = sweeps,
                                  .change = change,
                                  .init = *start,
                                  .restarts = restarts,
                                  .nonnegative = nonnegative,
                                  .seed = seed,
                                  .threads = threads_of_call()};
  const BorrowedArray array(x, {"cp: x"}, BorrowedArray::Use::kRead,
                            BorrowedArray::Where::kHostAlone);
  auto found = without_gil([&] { return einsum::cp(array.view(), options); });
  const auto framework = framework_of(x);
  nb::dict result;
  result["weights"] = to_array(framework, std::move(found.weights));
  result["factors"] = to_list(framework, std::move(found.factors));
  result["fit"] = found.fit;
  result["relative_error"] = found.relative_error;
  result["stop"] = std::string(kStops[found.stop]);
  result["sweeps"] = found.sweeps;
  result["trace"] = found.trace;
  result["congruence"] = found.congruence;
  result["degenerate"] = found.degenerate;
  return result;
}

nb::dict tucker(nb::handle x, std::vector<std::int64_t> ranks, std::optional<double> tolerance,
                const std::string& method, std::uint64_t seed) {
  const auto how = kMethods.find(method);
  if (!how) fail("tucker: method is hosvd, sthosvd or hooi, not '{}'", method);
  const einsum::TuckerOptions options{
      .method = *how, .ranks = std::move(ranks), .tolerance = tolerance, .seed = seed};
  const BorrowedArray array(x, {"tucker: x"}, BorrowedArray::Use::kRead,
                            BorrowedArray::Where::kHostAlone);
  auto found = without_gil([&] { return einsum::tucker(array.view(), options); });
  const auto framework = framework_of(x);
  nb::dict result;
  result["core"] = to_array(framework, std::move(found.core));
  result["factors"] = to_list(framework, std::move(found.factors));
  result["relative_error"] = found.relative_error;
  result["sweeps"] = found.sweeps;
  return result;
}

nb::dict tensor_train(nb::handle x, std::vector<std::int64_t> ranks,
                      std::optional<double> tolerance) {
  const BorrowedArray array(x, {"tt: x"}, BorrowedArray::Use::kRead,
                            BorrowedArray::Where::kHostAlone);
  auto found = without_gil([&] {
    return einsum::tensor_train(array.view(), {.ranks = std::move(ranks), .tolerance = tolerance});
  });
  nb::dict result;
  result["cores"] = to_list(framework_of(x), std::move(found.cores));
  result["relative_error"] = found.relative_error;
  return result;
}

nb::dict mp2(nb::handle b, const std::vector<double>& occupied, const std::vector<double>& virtuals,
             std::int64_t frozen_occupied, std::int64_t frozen_virtual) {
  const BorrowedArray array(b, {"mp2_energy: b"}, BorrowedArray::Use::kRead,
                            BorrowedArray::Where::kHostAlone);
  const einsum::Mp2Options options{.frozen_occupied = frozen_occupied,
                                   .frozen_virtual = frozen_virtual,
                                   .threads = threads_of_call()};
  const auto energy =
      without_gil([&] { return einsum::mp2_energy(array.view(), occupied, virtuals, options); });
  nb::dict result;
  result["total"] = energy.total;
  result["opposite_spin"] = energy.opposite_spin;
  result["same_spin"] = energy.same_spin;
  return result;
}

}  // namespace

void bind_decompositions(nb::module_& module) {
  const auto any = nb::arg().none();  // what is no array is refused by name
  module.def("cp", &cp, any, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg());
  module.def("tucker", &tucker, any, nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
  module.def("tt", &tensor_train, any, nb::arg(), nb::arg().none());
  module.def("mp2_energy", &mp2, any, nb::arg(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace assay::python
