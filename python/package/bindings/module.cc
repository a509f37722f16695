// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/module.h"

#include "base/error.h"
#include "bindings/errors.h"
#include "bindings/threads.h"

NB_MODULE(_core, module) {
  using namespace assay::python;
  // torch keeps what it compiled until after the end, and that is no leak of ours.
  nanobind::set_leak_warnings(false);
  translate_errors(nanobind::module_::import_("assay._errors"));
  // What the package assumes, as the engines say it.
  module.def("check", [](bool holds, const char* assumption) { assay::check(holds, assumption); });
  end_work_with_interpreter();
  bind_arrays(module);
  bind_contraction(module);
  bind_decompositions(module);
  bind_semiring(module);
  bind_chip(module);
  bind_compiler(module);
  bind_transport(module);
  bind_transport_files(module);
}
