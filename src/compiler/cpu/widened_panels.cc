// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/widened_panels.h"

#include <algorithm>
#include <type_traits>

#include "compiler/cpu/linear_kernels.h"
#include "compiler/cpu/tile_moves.h"
#include "kernels/tiles/pack_kernels.h"

namespace assay::compiler {

template <typename T>
void pack_widened(const PanelFactor& x, int count, std::int64_t terms, int width, int replicate,
                  T* panel) noexcept {
  const kernels::PackKernels<T>& kernels = kernels::pack_kernels(T{});
  const auto copy = [&](const kernels::PanelSource<T>& source, T* to) {
    if (replicate == 1)
      kernels.copy(source, width, to);
    else
      kernels.copy_replicated(source, width, replicate, to);
  };
  if (x.dtype == kDTypeOf<T>) {
    copy({reinterpret_cast<const T*>(x.data), x.width_stride, x.term_stride, terms, count}, panel);
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    if (x.width_stride == 1 && replicate == 1)
      return linear_kernels().copy_terms(x.dtype, x.data, x.term_stride, count, terms, width,
                                         panel);
  }
  // Row by row, or term by term where those lie together.
  constexpr std::int64_t kTerms = 128;
  constexpr int kMostWidth = 64;
  alignas(64) T wide[kTerms * kMostWidth];
  for (std::int64_t l = 0; l < terms; l += kTerms) {
    const std::int64_t part = std::min(kTerms, terms - l);
    T* to = panel + l * width * replicate;
    if (x.width_stride == 1) {
      for (std::int64_t t = 0; t < part; ++t)
        widen_elements(x.dtype, x.from(0, l + t).data, 1, count, wide + t * kMostWidth);
      copy({wide, 1, kMostWidth, part, count}, to);
    } else {
      for (int i = 0; i < count; ++i)
        widen_elements(x.dtype, x.from(i, l).data, x.term_stride, part, wide + i * kTerms);
      copy({wide, kTerms, 1, part, count}, to);
    }
  }
}

template void pack_widened(const PanelFactor&, int, std::int64_t, int, int, float*) noexcept;
template void pack_widened(const PanelFactor&, int, std::int64_t, int, int, double*) noexcept;

}  // namespace assay::compiler
