// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/pair_product.h"

#include "compiler/cpu/linear_blocks.h"
#include "compiler/cpu/widened_panels.h"
#include "kernels/bf16/pair_packing.h"

namespace assay::compiler {
namespace {

// Pairs of elements as they are.
class PairMultiplier {
 public:
  using Element = kernels::Bf16Pair;
  using Tile = kernels::PairTile;

  PairMultiplier(const kernels::PairUnit& unit, const PanelFactor& rows, const PanelFactor& columns,
                 std::int64_t k)
      : unit_(unit), rows_(rows), columns_(columns), k_(k) {}

  int rows() const { return unit_.rows; }
  int lanes() const { return unit_.lanes; }
  int vectors() const { return unit_.vectors; }
  std::int64_t terms() const { return rounded_to(kernels::divide_up(k_, 2), unit_.step); }
  static std::int64_t most_terms() { return kernels::PairUnit::kMostTerms; }
  std::int64_t panel_elements() const { return unit_.rows * kernels::PairUnit::kWholeRow; }
  std::int64_t ahead_stride() const { return rows_.width_stride * 2; }
  const std::byte* at(std::int64_t row, std::int64_t term) const {
    return rows_.from(row, 2 * term).data;
  }

  bool pack_columns(std::int64_t column, int count, std::int64_t begin, std::int64_t terms,
                    int width, Element* panel) const noexcept {
    return kernels::pack_pairs(source(columns_, column, count, begin, terms), width,
                               unit_.column_group, terms, panel);
  }
  bool pack_rows(std::int64_t row, int count, std::int64_t begin, std::int64_t terms,
                 Element* panel) const noexcept {
    return kernels::pack_pairs(source(rows_, row, count, begin, terms), unit_.rows, unit_.row_group,
                               terms, panel);
  }
  void multiply(int vectors, const Tile& tile, bool with_care) const noexcept {
    kernels::multiply_pairs(unit_, vectors, tile, with_care);
  }
  void enter() const {
    if (unit_.enter != nullptr) unit_.enter();
  }
  void leave() const {
    if (unit_.leave != nullptr) unit_.leave();
  }

 private:
  kernels::Bf16Source source(const PanelFactor& factor, std::int64_t first, int count,
                             std::int64_t begin, std::int64_t terms) const {
    return {reinterpret_cast<const std::uint16_t*>(factor.from(first, 2 * begin).data),
            factor.width_stride, factor.term_stride, std::min(2 * terms, k_ - 2 * begin), count};
  }

  const kernels::PairUnit& unit_;
  const PanelFactor rows_, columns_;
  const std::int64_t k_;
};

}  // namespace

bool is_paired(const Factor& a, const Factor& b, std::int64_t m, std::int64_t n,
               const ProductOptions& options) {
  const auto* unit = options.unit;
  return unit != nullptr && a.dtype == DType::kBF16 && b.dtype == DType::kBF16 && m > unit->few &&
         n >= unit->lanes / 2;
}

void multiply_paired(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k,
                     std::int64_t n, const SumsSink<float>& sink, const ProductOptions& options) {
  const PanelFactor of_a{a.data, a.dtype, a.row_stride, a.column_stride};
  const PanelFactor of_b{b.data, b.dtype, b.column_stride, b.row_stride};
  // Rows are taken as they lie: those of W where the product is x Wᵀ, else a's.
  const bool is_turned = b.row_stride == 1;
  const PairMultiplier multiplier(*options.unit, is_turned ? of_b : of_a, is_turned ? of_a : of_b,
                                  k);
  LinearBlocks<PairMultiplier>(multiplier, is_turned ? n : m, is_turned ? m : n, is_turned, sink,
                               options)
      .run();
}

}  // namespace assay::compiler
