// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tensors to decompose, for tests.

#include <cmath>
#include <cstdint>
#include <vector>

#include "tensor/fill.h"
#include "tensor/tensor.h"

namespace assay::einsum {

// X_ijk = 1/(i + j + k + 1).
inline Tensor hilbert(std::int64_t n) {
  Tensor x(DType::kF64, Shape({n, n, n}));
  for (std::int64_t i = 0; i < n * n * n; ++i) {
    const std::int64_t sum = i / (n * n) + i / n % n + i % n;
    x.as<double>()[static_cast<std::size_t>(i)] = 1.0 / static_cast<double>(sum + 1);
  }
  return x;
}

// hilbert(8) + 0.05·noise, times `scale`, in f32 or f64.
inline Tensor scaled_tensor(DType dtype, double scale) {
  Tensor x = hilbert(8);
  Tensor noise(DType::kF64, x.shape());
  fill_uniform(noise.mutable_view(), Philox(21), -0.05, 0.05);
  for (std::size_t i = 0; i < x.as<double>().size(); ++i) {
    x.as<double>()[i] = scale * (x.as<double>()[i] + noise.as<double>()[i]);
  }
  return Tensor::converted(x.view(), dtype);
}

// Σ a₀∘a₁∘a₂ over triples of vectors of n elements.
inline Tensor from_components(const std::vector<std::vector<double>>& a, std::int64_t n) {
  Tensor x(DType::kF64, Shape({n, n, n}));
  for (std::size_t t = 0; t + 2 < a.size(); t += 3) {
    for (std::int64_t i = 0; i < n * n * n; ++i) {
      x.as<double>()[static_cast<std::size_t>(i)] += a[t][static_cast<std::size_t>(i / (n * n))] *
                                                     a[t + 1][static_cast<std::size_t>(i / n % n)] *
                                                     a[t + 2][static_cast<std::size_t>(i % n)];
    }
  }
  return x;
}

// ‖x − y‖/‖x‖.
inline double error_between(const Tensor& x, const Tensor& y) {
  double error = 0, size = 0;
  for (std::int64_t i = 0; i < x.element_count(); ++i) {
    const double a = value_as_double(x.view(), i), b = value_as_double(y.view(), i);
    error += (a - b) * (a - b);
    size += a * a;
  }
  return std::sqrt(error / size);
}

}  // namespace assay::einsum
