// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a kernel means: scalar loops, floating point in f64, each value rounded to its dtype once.
// Every fast kernel is held to this.

#include <cstddef>
#include <span>

#include "compiler/program/program.h"

namespace assay::compiler {

// `operands` are those of the kernel, in order: row-major without gaps. What is written overlaps
// nothing else, but in a ScatterInto that is in place. Throws UserError for a symbol without a
// value and for a view that would leave its operand.
void run_plain(const Kernel& kernel, const Bindings& symbols, std::span<std::byte* const> operands);

}  // namespace assay::compiler
