// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What calls of contractions say beside their operands, and what plans tell of themselves: the same
// wherever the arrays lie.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "einsum/einsum.h"
#include "einsum/plan/explain.h"

namespace assay::python {

// Whether there is a place for what was measured of this machine; contractions do without.
bool knows_home();

// None stands for what the engines choose. Throws what names the argument.
einsum::CallOptions call_options(nanobind::handle dtype, nanobind::handle memory,
                                 nanobind::handle objective);

// An operand of a plan that is given by its shape alone stands for a row-major array of f64.
einsum::OperandSpec spec_of_shape(nanobind::handle shape);

// The order of contractions as opt_einsum writes it: places in the list of what is left, from which
// the two are taken and to which their product is appended.
std::vector<std::vector<std::size_t>> linear_path(const einsum::Plan& plan);

// Binds what assay.Plan asks of `Kept`, which has a `plan` to point to.
template <typename Kept>
void bind_facts(nanobind::class_<Kept>& bound) {
  bound.def("explain_text", [](const Kept& kept) { return explain_text(*kept.plan); })
      .def("explain_json", [](const Kept& kept) { return explain(*kept.plan).dump(); })
      .def("linear_path", [](const Kept& kept) { return linear_path(*kept.plan); })
      .def("shape",
           [](const Kept& kept) {
             const Shape shape = kept.plan->output_shape();
             return std::vector<std::int64_t>(shape.extents().begin(), shape.extents().end());
           })
      .def("dtype", [](const Kept& kept) { return std::string(name_of(kept.plan->result)); })
      .def("numbers", [](const Kept& kept) {
        return std::vector<double>{kept.plan->mac, kept.plan->flop, kept.plan->predicted_s,
                                   kept.plan->peak_bytes};
      });
}

}  // namespace assay::python
