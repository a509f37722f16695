// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/square_products.h"

#include "kernels/cuda/libraries.h"

namespace assay::kernels::cuda {

const char* name_of(ProductKind kind) {
  switch (kind) {
    case ProductKind::kF32:
      return "f32";
    case ProductKind::kTf32:
      return "tf32";
    case ProductKind::kBf16:
      return "bf16";
    case ProductKind::kF16:
      return "f16";
    case ProductKind::kF64:
      return "f64";
  }
  return "";
}

struct SquareProducts::Own {
  explicit Own(Stream stream) : cublas(stream) {}
  Cublas cublas;
};

SquareProducts::SquareProducts(Stream stream) : own_(std::make_unique<Own>(stream)) {}
SquareProducts::~SquareProducts() = default;

void SquareProducts::multiply(ProductKind kind, int n, const void* a, const void* b,
                              void* c) const {
  // As cuBLAS numbers them: cudaDataType_t and cublasComputeType_t.
  switch (kind) {
    case ProductKind::kF32:
      return own_->cublas.square(n, a, b, c, 0, 68);
    case ProductKind::kTf32:
      return own_->cublas.square(n, a, b, c, 0, 77);
    case ProductKind::kBf16:
      return own_->cublas.square(n, a, b, c, 14, 68);
    case ProductKind::kF16:
      return own_->cublas.square(n, a, b, c, 2, 68);
    case ProductKind::kF64:
      return own_->cublas.square(n, a, b, c, 1, 70);
  }
}

}  // namespace assay::kernels::cuda
