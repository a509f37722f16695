// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Exceptions of the engines as exceptions of Python, with the message that the command line prints.

#include <nanobind/nanobind.h>

namespace assay::python {

// UserError, EnvironmentError, DiskError and InternalError become the classes of these names that
// `errors`, the Python module assay._errors, defines; std::bad_alloc becomes MemoryError.
void translate_errors(nanobind::module_ errors);

}  // namespace assay::python
