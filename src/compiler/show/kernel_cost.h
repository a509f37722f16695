// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/program/program.h"

namespace assay::compiler {

// The least that a kernel has to do: each element that it reads or writes once, each operation.
struct KernelCost {
  double bytes = 0, operations = 0;
};
KernelCost cost_of(const Kernel& kernel, const Bindings& symbols);

}  // namespace assay::compiler
