// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/dtypes.h"

#include <cstring>

#include "compiler/graph/scalar.h"

namespace assay::compiler {

std::uint64_t bits_of(DType dtype, double value) {
  return visit_graph_dtype(dtype, [&]<typename T>(std::type_identity<T>) {
    const T narrow = converted_to<double, T>(value);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof narrow);
    return bits;
  });
}
double value_of_bits(DType dtype, std::uint64_t bits) {
  return visit_graph_dtype(dtype, [&]<typename T>(std::type_identity<T>) {
    T narrow{};
    std::memcpy(static_cast<void*>(&narrow), &bits, sizeof narrow);
    return static_cast<double>(widened(narrow));
  });
}

}  // namespace assay::compiler
