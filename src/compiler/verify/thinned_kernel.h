// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parts of a kernel that compute some of its results from the same operands: what is too large to
// be interpreted is looked at in places.

#include <optional>
#include <vector>

#include "compiler/program/program.h"

namespace assay::compiler {

// How many rows a product has; nothing of other kernels.
std::optional<Dim> rows_of(const Kernel& kernel);
// How many products it adds up in all.
double products_of(const Kernel& kernel, const Bindings& symbols);

// Of a product every step-th column, and of many rows every step-th row; of attention some heads,
// and the last;// of a region some rows, or, where it has few and reduces none of them, some
// columns. Nothing of other kernels.
std::vector<Kernel> thinned(const Kernel& kernel, const Bindings& symbols, std::int64_t step);
// Where such a kernel writes.
std::vector<Access> written_by(const Kernel& kernel);
// The same results without gaps: operands that are written have nothing else in them.
Kernel with_dense_results(Kernel kernel);

}  // namespace assay::compiler
