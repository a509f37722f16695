// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of assay._cuda, which computes where arrays lie in the memory of an NVIDIA GPU. Loaded
// by the first call with such an array (assay/_device.py), and by nothing else.

#include <nanobind/nanobind.h>

namespace assay::python::cuda {

void bind_contraction(nanobind::module_& module);
void bind_semiring(nanobind::module_& module);

}  // namespace assay::python::cuda
