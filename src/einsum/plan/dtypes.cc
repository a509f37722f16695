// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/dtypes.h"

#include "base/error.h"

namespace assay::einsum {
namespace {

bool is_supported(DType d) {
  return d == DType::kBF16 || d == DType::kF32 || d == DType::kF64 || is_complex(d);
}

// The smallest dtype that holds all operands: bf16 < f32 < f64, complex if one is.
DType common_dtype(std::span<const OperandSpec> operands) {
  bool complex = false, wide = false, narrow = true;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const DType d = operands[i].dtype;
    if (!is_supported(d)) {
      fail("einsum: operand {} has dtype {}; bf16, f32, f64, c64 and c128 can be contracted", i,
           name_of(d));
    }
    complex |= is_complex(d);
    wide |= d == DType::kF64 || d == DType::kC128;
    narrow &= d == DType::kBF16;
  }
  if (complex) return wide ? DType::kC128 : DType::kC64;
  return wide ? DType::kF64 : narrow ? DType::kBF16 : DType::kF32;
}

DType compute_dtype(DType common, Precision precision) {
  if (precision == Precision::kDouble) return is_complex(common) ? DType::kC128 : DType::kF64;
  return common == DType::kBF16 ? DType::kF32 : common;
}

}  // namespace

Dtypes choose_dtypes(std::span<const OperandSpec> operands, const PlanOptions& options) {
  const DType common = common_dtype(operands);
  Dtypes chosen{compute_dtype(common, options.precision), options.dtype.value_or(common)};
  if (is_complex(chosen.result) && !is_complex(chosen.compute)) {
    chosen.compute = chosen.compute == DType::kF64 ? DType::kC128 : DType::kC64;
  }
  if (!is_supported(chosen.result)) {
    fail("einsum: the result can be bf16, f32, f64, c64 or c128, not {}", name_of(chosen.result));
  }
  if (is_complex(chosen.compute) && !is_complex(chosen.result)) {
    fail("einsum: a complex contraction has no real result, dtype {}", name_of(chosen.result));
  }
  return chosen;
}

}  // namespace assay::einsum
