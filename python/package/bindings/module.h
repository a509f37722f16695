// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of assay._core, one file each. The package's own Python (python/package/assay) gives
// them names, types and words.

#include <nanobind/nanobind.h>

namespace assay::python {

void bind_arrays(nanobind::module_& module);
void bind_contraction(nanobind::module_& module);
void bind_decompositions(nanobind::module_& module);
void bind_semiring(nanobind::module_& module);
void bind_chip(nanobind::module_& module);
void bind_compiler(nanobind::module_& module);
void bind_transport(nanobind::module_& module);
void bind_transport_files(nanobind::module_& module);

}  // namespace assay::python
