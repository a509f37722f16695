// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// x Wᵀ for more than a few rows of x, W a matrix whose rows are read where they lie
// (linear_kernels.h).

#include "compiler/cpu/product.h"

namespace assay::compiler {

// Of so many rows and more none is.
inline constexpr std::int64_t kManyTokens = 1024;
// Whether a product is one: terms of b lie together, and there is something to gain.
bool is_linear(const Factor& b, std::int64_t m, std::int64_t n);

// As multiply() for a product that is_linear(); sums go where `sink` says.
void multiply_linear(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k,
                     std::int64_t n, const SumsSink<float>& sink, const ProductOptions& options);

}  // namespace assay::compiler
