// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products of bf16 by bf16 on the processor's own unit for them (kernels/bf16/pair_units.h).

#include "compiler/cpu/product.h"

namespace assay::compiler {

// Whether a product takes options.unit: there is one, both factors are bf16, rows are not few, and
// tiles not nearly empty.
bool is_paired(const Factor& a, const Factor& b, std::int64_t m, std::int64_t n,
               const ProductOptions& options);

// As multiply() for a product that is_paired(); factors have any strides. Sums may differ from
// those in f32 as pair_units.h says.
void multiply_paired(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k,
                     std::int64_t n, const SumsSink<float>& sink, const ProductOptions& options);

}  // namespace assay::compiler
