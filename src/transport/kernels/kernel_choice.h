// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which of the sets of vector_kernels.h this program runs.

#include <span>

#include "transport/kernels/vector_kernels.h"

namespace assay::transport {

template <typename T>
struct VectorKernels {
  decltype(&baseline::combine<T>) combine;
  decltype(&baseline::invert_leaf<T>) invert_leaf;
  decltype(&baseline::multiply_leaf<T>) multiply_leaf;
};
struct FactorKernels {
  decltype(&baseline::factor_panel) factor_panel;
  decltype(&baseline::invert_triangle) invert_triangle;
  decltype(&baseline::apply_lower_leaf) apply_lower_leaf;
};

// Every set that this processor can run, the best one first.
template <typename T>
std::span<const VectorKernels<T>> all_vector_kernels();
std::span<const FactorKernels> all_factor_kernels();

// The best one.
template <typename T>
const VectorKernels<T>& vector_kernels() {
  return all_vector_kernels<T>().front();
}
inline const FactorKernels& factor_kernels() { return all_factor_kernels().front(); }

}  // namespace assay::transport
