// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// exp and log of arrays, with the best instruction set of this machine. At most 2 ulp from the true
// value for every input, denormals, infinities and NaN included (log of a negative number is NaN).
// The vector functions behind them are in exp_log-inl.h.

#include <span>

namespace assay::kernels {

// y_i = e^x_i; the spans are of one length (else InternalError) and equal or apart.
void exp(std::span<const float> x, std::span<float> y);
void exp(std::span<const double> x, std::span<double> y);

// y_i = log x_i.
void log(std::span<const float> x, std::span<float> y);
void log(std::span<const double> x, std::span<double> y);

}  // namespace assay::kernels
