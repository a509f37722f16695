// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Exceptions of the engines as exceptions of Python, with the message that the command line prints.

#include <nanobind/nanobind.h>

#include "base/error.h"

namespace assay::python {

// An argument lies in the memory of an NVIDIA GPU, and who asks computes on the processor. Calls
// that can be made on a device as well are made there then (assay/_device.py).
class OnDevice : public UserError {
 public:
  using UserError::UserError;
};

// OnDevice, UserError, EnvironmentError, DiskError and InternalError become the classes of these
// names that `errors`, the Python module assay._errors, defines; std::bad_alloc becomes
// MemoryError.
void translate_errors(nanobind::module_ errors);

}  // namespace assay::python
