// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/normalized.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace assay::einsum {
namespace {

// Norms between 2^−reach and 2^reach need no scaling: elements of Gram matrices, and their last
// digits, stay far from the ends of T's range.
template <typename T>
constexpr int kReach = sizeof(T) == 4 ? 30 : 200;

}  // namespace

template <typename T>
Normalized<T> normalized(const TensorView& view, std::string_view who) {
  Normalized<T> result;
  result.x = DenseTensor<T>::borrow(view);
  result.norm = norm<T>(result.x.elements());
  const double most = std::ldexp(1.0, kReach<T>);
  if (result.norm >= 1 / most && result.norm <= most) return result;
  T largest = 0;
  for (const T value : result.x.elements()) {
    if (!std::isfinite(value)) {
      fail("{}: the tensor has NaN or infinite entries, such as {}", who, value);
    }
    largest = std::max(largest, std::abs(value));
  }
  if (largest == 0) return result;
  result.exponent = std::ilogb(largest);
  DenseTensor<T> scaled;
  scaled.shape = result.x.shape;
  scaled.data.reserve(result.x.elements().size());
  for (const T value : result.x.elements()) {
    scaled.data.push_back(std::ldexp(value, -result.exponent));
  }
  result.x = std::move(scaled);
  result.norm = norm<T>(result.x.elements());
  return result;
}

template <typename T>
void scale_back(std::span<T> values, int exponent, std::string_view who) {
  if (exponent == 0) return;
  for (T& value : values) {
    const T scaled = std::ldexp(value, exponent);
    if (!std::isfinite(scaled)) {
      fail(
          "{}: the result has elements beyond the range of {}: decompose the tensor divided by "
          "2^{}",
          who, name_of(kDTypeOf<T>), exponent);
    }
    value = scaled;
  }
}

#define ASSAY_INSTANTIATE(T)                                                 \
  template Normalized<T> normalized<T>(const TensorView&, std::string_view); \
  template void scale_back<T>(std::span<T>, int, std::string_view);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum
