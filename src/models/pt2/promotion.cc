// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/promotion.h"

#include <algorithm>
#include <array>
#include <optional>

namespace assay::models::pt2 {
namespace {

int kind_of_dtype(DType dtype) { return is_floating(dtype) ? 2 : dtype == DType::kBool ? 0 : 1; }

}  // namespace

DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (kind_of_dtype(a) != kind_of_dtype(b)) return kind_of_dtype(a) > kind_of_dtype(b) ? a : b;
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return DType::kF32;  // f16 and bf16
}

DType result_type(std::span<const Typed> operands) {
  std::array<std::optional<DType>, 3> of_rank;
  for (const auto& [dtype, rank] : operands) {
    auto& known = of_rank.at(static_cast<std::size_t>(rank));
    known = known ? promoted(*known, dtype) : dtype;
  }
  std::optional<DType> result;
  for (const auto& dtype : of_rank) {
    if (!dtype) continue;
    if (!result || kind_of_dtype(*dtype) > kind_of_dtype(*result)) {
      // A number decides the kind; how wide integers and floating point are by default is torch's.
      result = dtype;
    }
  }
  return *result;
}

}  // namespace assay::models::pt2
