// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The loops that interpreting large products consists of: plain ones, which GCC compiles for
// several instruction sets of x86-64. No operation is fused with another, so that all of them give
// the same bits.

#include <cstdint>

#include "tensor/half.h"

namespace assay::compiler {

inline constexpr std::int64_t kSumParts = 8;

// parts[k % kSumParts] += x[k]·y[k], each product rounded to the factors' type. `count` is a
// multiple of kSumParts.
void add_products(const float* x, const float* y, std::int64_t count, double* parts);
void add_products(const double* x, const double* y, std::int64_t count, double* parts);

// to[k] = x[k].
void widen(const BFloat16* x, std::int64_t count, float* to);
void widen(const BFloat16* x, std::int64_t count, double* to);
void widen(const float* x, std::int64_t count, double* to);

// to[k] = |x[k]|.
void widen_sizes(const float* x, std::int64_t count, double* to);
void widen_sizes(const double* x, std::int64_t count, double* to);

}  // namespace assay::compiler
