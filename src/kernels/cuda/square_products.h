// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// cuBLAS's products in the kinds of arithmetic a device has, for its ceilings.

#include <memory>

#include "kernels/cuda/device.h"

namespace assay::kernels::cuda {

enum class ProductKind { kF32, kTf32, kBf16, kF16, kF64 };
const char* name_of(ProductKind kind);

class SquareProducts {
 public:
  explicit SquareProducts(Stream stream);
  ~SquareProducts();
  // C = A B of n × n matrices in device memory, whose elements are of the kind's own size.
  void multiply(ProductKind kind, int n, const void* a, const void* b, void* c) const;

 private:
  struct Own;
  std::unique_ptr<Own> own_;
};

}  // namespace assay::kernels::cuda
