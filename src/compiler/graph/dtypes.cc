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

}  // namespace assay::compiler
