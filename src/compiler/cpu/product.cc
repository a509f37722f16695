// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/product.h"

#include <algorithm>
#include <limits>

#include "compiler/cpu/gemv_kernels.h"
#include "compiler/cpu/tile_moves.h"
#include "kernels/memory/scratch.h"
#include "kernels/threads/crew.h"
#include "kernels/tiles/blocked_product.h"

namespace assay::compiler {
namespace {

// Panels are widened while they are packed.
template <typename T>
class MixedOperands final : public kernels::Operands<T> {
 public:
  MixedOperands(const Factor& a, const Factor& b)
      : a_(a), b_(b), pack_(kernels::pack_kernels(T{})), tiles_(kernels::real_tiles(T{})) {}

  std::uint8_t pack_left(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                         T* panel) const noexcept override {
    pack(a_, a_.row_stride, a_.column_stride, first, count, begin, terms, tiles_.rows, panel,
         tiles_.replicate);
    return 0;
  }
  std::uint8_t pack_right(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                          T* panel) const noexcept override {
    pack(b_, b_.column_stride, b_.row_stride, first, count, begin, terms, tiles_.columns(), panel,
         1);
    return 0;
  }
  kernels::PanelSource<T> plain_right(std::int64_t first, int count, std::int64_t begin,
                                      std::int64_t terms) const noexcept override {
    if (b_.dtype != kDTypeOf<T> || b_.column_stride != 1) return {};
    return {reinterpret_cast<const T*>(b_.data) + begin * b_.row_stride + first, 1, b_.row_stride,
            terms, count};
  }
  const kernels::TileKernels<T>& tiles(std::uint8_t, std::uint8_t) const noexcept override {
    return tiles_;
  }

 private:
  void pack(const Factor& x, std::int64_t width_stride, std::int64_t term_stride,
            std::int64_t first, int count, std::int64_t begin, std::int64_t terms, int width,
            T* panel, int replicate) const {
    const auto size = static_cast<std::int64_t>(size_of(x.dtype));
    const std::byte* data = x.data + (first * width_stride + begin * term_stride) * size;
    const auto copy = [&](const kernels::PanelSource<T>& source, T* to) {
      if (replicate == 1)
        pack_.copy(source, width, to);
      else
        pack_.copy_replicated(source, width, replicate, to);
    };
    if (x.dtype == kDTypeOf<T>) {
      copy({reinterpret_cast<const T*>(data), width_stride, term_stride, terms, count}, panel);
      return;
    }
    // Row by row, or term by term where those lie together.
    constexpr std::int64_t kTerms = 128;
    constexpr int kMostWidth = 64;
    alignas(64) T wide[kTerms * kMostWidth];
    for (std::int64_t l = 0; l < terms; l += kTerms) {
      const std::int64_t part = std::min(kTerms, terms - l);
      const std::byte* from = data + l * term_stride * size;
      T* to = panel + l * width * replicate;
      if (width_stride == 1) {
        for (std::int64_t t = 0; t < part; ++t)
          widen_elements(x.dtype, from + t * term_stride * size, 1, count, wide + t * kMostWidth);
        copy({wide, 1, kMostWidth, part, count}, to);
      } else {
        for (int i = 0; i < count; ++i)
          widen_elements(x.dtype, from + i * width_stride * size, term_stride, part,
                         wide + i * kTerms);
        copy({wide, kTerms, 1, part, count}, to);
      }
    }
  }

  const Factor a_, b_;
  const kernels::PackKernels<T>& pack_;
  const kernels::TileKernels<T>& tiles_;
};

// Work in pieces of columns for whoever is free: about `each` for a thread, of at least `least`.
template <typename F>
void share_columns(int threads, std::int64_t n, std::int64_t least, std::int64_t each, const F& f) {
  const std::int64_t even = kernels::divide_up(n, threads == 1 ? 1 : each * threads);
  const std::int64_t piece =
      std::clamp<std::int64_t>(kernels::divide_up(even, 64) * 64, least, 4096);
  kernels::share_items(threads, kernels::divide_up(n, piece), [&](std::int64_t item) noexcept {
    f(item * piece, std::min(n, (item + 1) * piece));
  });
}

void multiply_few_rows(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k,
                       std::int64_t n, float* c, std::int64_t c_stride, int threads) {
  const GemvKernels& kernels = gemv_kernels();
  const auto size = static_cast<std::int64_t>(size_of(b.dtype));
  // Rows a power of two apart would fall on one another in the nearest cache.
  const std::int64_t whole = kernels::divide_up(k, kernels.step) * kernels.step;
  const std::int64_t padded = whole + 16;
  const kernels::AlignedArray<float> rows(2 * m * padded);
  float* plain = rows.data() + m * padded;
  const bool is_dot = b.row_stride == 1;
  for (std::int64_t i = 0; i < m; ++i) {
    float* row = plain + i * padded;
    std::fill(row + k, row + whole, 0.0f);
    widen_elements(a.dtype, a.data + i * a.row_stride * static_cast<std::int64_t>(size_of(a.dtype)),
                   a.column_stride, k, row);
    if (is_dot) kernels.arrange(b.dtype, row, whole, rows.data() + i * padded);
  }
  const int rows_at_once = static_cast<int>(m);
  const int team = m * n * k < (1 << 17) ? 1 : threads;
  if (is_dot) {
    share_columns(team, n, 16, 16, [&](std::int64_t begin, std::int64_t end) {
      kernels.dots(b.dtype, rows_at_once, rows.data(), padded,
                   b.data + begin * b.column_stride * size, b.column_stride, k, end - begin,
                   c + begin, c_stride);
    });
    return;
  }
  share_columns(team, n, 512, 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < m; ++i)
      std::fill(c + i * c_stride + begin, c + i * c_stride + end, 0.0f);
    kernels.sums(b.dtype, rows_at_once, plain, padded, b.data + begin * size, b.row_stride, k,
                 end - begin, c + begin, c_stride);
  });
}

}  // namespace

template <typename T>
void multiply(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k, std::int64_t n,
              T* c, std::int64_t c_stride, const ProductOptions& options) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (std::int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_stride, n, T{0});
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    if (m <= kMostGemvRows && (b.row_stride == 1 || b.column_stride == 1))
      return multiply_few_rows(a, b, m, k, n, c, c_stride, options.threads);
  }
  const MixedOperands<T> operands(a, b);
  const auto& tiles = operands.tiles(0, 0);
  const auto blocking =
      kernels::blocking_for(options.caches, m, k, n, sizeof(T), tiles.left_width(), tiles.columns(),
                            std::numeric_limits<std::int64_t>::max());
  kernels::blocked_product(operands, m, k, n, kernels::Output<T>{c, c_stride}, blocking,
                           options.threads);
}

template void multiply(const Factor&, const Factor&, std::int64_t, std::int64_t, std::int64_t,
                       float*, std::int64_t, const ProductOptions&);
template void multiply(const Factor&, const Factor&, std::int64_t, std::int64_t, std::int64_t,
                       double*, std::int64_t, const ProductOptions&);

}  // namespace assay::compiler
