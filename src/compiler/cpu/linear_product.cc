// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/linear_product.h"

#include "compiler/cpu/linear_blocks.h"
#include "compiler/cpu/linear_kernels.h"
#include "compiler/cpu/widened_panels.h"

namespace assay::compiler {
namespace {

// Elements of W's rows and of x as f32.
class WidenedMultiplier {
 public:
  using Element = float;
  using Tile = LinearTile;

  WidenedMultiplier(const Factor& a, const Factor& b, std::int64_t k)
      : tokens_{a.data, a.dtype, a.row_stride, a.column_stride},
        rows_{b.data, b.dtype, b.column_stride, 1},
        k_(k),
        kernels_(linear_kernels()) {}

  int rows() const { return kernels_.rows; }
  int lanes() const { return kernels_.lanes; }
  int vectors() const { return kernels_.vectors; }
  std::int64_t terms() const { return k_; }
  static std::int64_t most_terms() { return LinearKernels::kMostTerms; }
  std::int64_t panel_elements() const { return kernels_.panel_elements(); }
  std::int64_t ahead_stride() const { return rows_.width_stride * size(); }
  const std::byte* at(std::int64_t row, std::int64_t term) const {
    return rows_.from(row, term).data;
  }

  bool pack_columns(std::int64_t column, int count, std::int64_t begin, std::int64_t terms,
                    int width, float* panel) const noexcept {
    pack_widened(tokens_.from(column, begin), count, terms, width, 1, panel);
    return false;
  }
  bool pack_rows(std::int64_t row, int count, std::int64_t begin, std::int64_t terms,
                 float* panel) const noexcept {
    const PanelFactor from = rows_.from(row, begin);
    if (kernels_.pitch > 0)
      kernels_.copy_rows(from.dtype, from.data, from.width_stride, count, terms, panel);
    else
      pack_widened(from, count, terms, kernels_.rows, 1, panel);
    return false;
  }
  void multiply(int vectors, LinearTile tile, bool) const noexcept {
    tile.ahead_size = size();
    kernels_.tile[static_cast<std::size_t>(vectors - 1)](tile);
  }
  static void enter() {}
  static void leave() {}

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(size_of(rows_.dtype)); }

  const PanelFactor tokens_, rows_;
  const std::int64_t k_;
  const LinearKernels& kernels_;
};

}  // namespace

bool is_linear(const Factor& b, std::int64_t m, std::int64_t n) {
  // One panel of W's rows at least, and vectors of tokens that are not nearly empty. Of many tokens
  // each panel of W serves so many that packing it costs nothing, and packed tiles are faster by
  // then: 7 % with f32 and 1024³ (Xeon, AVX-512), no less with 2048 tokens.
  return b.row_stride == 1 && b.dtype != DType::kF64 && m >= linear_kernels().lanes / 2 &&
         m < kManyTokens && n >= linear_kernels().rows;
}

void multiply_linear(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k,
                     std::int64_t n, const SumsSink<float>& sink, const ProductOptions& options) {
  const WidenedMultiplier multiplier(a, b, k);
  LinearBlocks<WidenedMultiplier>(multiplier, n, m, true, sink, options).run();
}

}  // namespace assay::compiler
