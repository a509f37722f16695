// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Panels of a factor of any floating-point dtype and any strides, widened while they are packed
// (kernels/tiles/tile_kernels.h says what a panel is).

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace assay::compiler {

// A factor seen from its panels: element (i, l), row i of a left factor or column i of a right one
// at term l, is data[i · width_stride + l · term_stride].
struct PanelFactor {
  const std::byte* data = nullptr;
  DType dtype = DType::kF32;
  std::int64_t width_stride = 0, term_stride = 0;

  PanelFactor from(std::int64_t i, std::int64_t l) const {
    PanelFactor part = *this;
    part.data += (i * width_stride + l * term_stride) * static_cast<std::int64_t>(size_of(dtype));
    return part;
  }
};

// panel[(l · width + i) · replicate + s] = x(i, l) for i < count, l < terms, s < replicate; 0 for
// i ≥ count. Width is 64 at most.
template <typename T>
void pack_widened(const PanelFactor& x, int count, std::int64_t terms, int width, int replicate,
                  T* panel) noexcept;

extern template void pack_widened(const PanelFactor&, int, std::int64_t, int, int, float*) noexcept;
extern template void pack_widened(const PanelFactor&, int, std::int64_t, int, int,
                                  double*) noexcept;

}  // namespace assay::compiler
