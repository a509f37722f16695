// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/plain_products.h"

#include <algorithm>
#include <limits>

#include "kernels/memory/scratch.h"
#include "kernels/tiles/blocked_product.h"
#include "semiring/simd/algebra_tiles.h"

namespace assay::semiring::simd {
namespace {

// Whether a term of two such panels can be NaN.
bool can_be_nan(std::uint8_t left, std::uint8_t right) {
  if (((left | right) & kernels::kHasNan) != 0) return true;
  return ((left & kernels::kHasPlusInf) != 0 && (right & kernels::kHasMinusInf) != 0) ||
         ((left & kernels::kHasMinusInf) != 0 && (right & kernels::kHasPlusInf) != 0);
}

// Factors as they are. `careful` is null where the plain tiles keep NaN themselves.
template <typename T>
class PlainOperands final : public kernels::Operands<T> {
 public:
  PlainOperands(const Matrix<T>& a, const Matrix<T>& b, const kernels::TileKernels<T>& plain,
                const kernels::TileKernels<T>* careful)
      : a_(a), b_(b), pack_(kernels::pack_kernels(T{})), plain_(plain), careful_(careful) {}

  std::uint8_t pack_left(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                         T* panel) const noexcept override {
    const auto source = a_.rows(first, count, begin, terms);
    if (plain_.replicate == 1) {
      pack_.copy(source, plain_.rows, panel);
    } else {
      pack_.copy_replicated(source, plain_.rows, plain_.replicate, panel);
    }
    return flags(panel, plain_.left_width() * terms);
  }
  std::uint8_t pack_right(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                          T* panel) const noexcept override {
    pack_.copy(b_.columns(first, count, begin, terms), plain_.columns(), panel);
    return flags(panel, plain_.columns() * terms);
  }
  kernels::PanelSource<T> plain_right(std::int64_t first, int count, std::int64_t begin,
                                      std::int64_t terms) const noexcept override {
    if (careful_ != nullptr || b_.column_stride != 1) return {};
    return b_.columns(first, count, begin, terms);
  }
  const kernels::TileKernels<T>& tiles(std::uint8_t left,
                                       std::uint8_t right) const noexcept override {
    return careful_ != nullptr && can_be_nan(left, right) ? *careful_ : plain_;
  }

 private:
  std::uint8_t flags(const T* panel, std::int64_t size) const {
    return careful_ == nullptr ? std::uint8_t{0} : pack_.flags(panel, size);
  }

  const Matrix<T> a_, b_;
  const kernels::PackKernels<T>& pack_;
  const kernels::TileKernels<T>& plain_;
  const kernels::TileKernels<T>* careful_;
};

template <typename T>
void run(const kernels::Operands<T>& operands, const Extents& e, const Output<T>& c,
         const Execution& execution) {
  const kernels::TileKernels<T>& tiles = operands.tiles(0, 0);
  const kernels::Blocking blocking =
      kernels::blocking_for(execution.caches, e.m, e.k, e.n, sizeof(T), tiles.left_width(),
                            tiles.columns(), std::numeric_limits<std::int64_t>::max());
  kernels::blocked_product(operands, e.m, e.k, e.n, c, blocking, execution.threads);
}

// Up to this many pairs packing costs more than it saves, as long as the tile's rows of A do not
// fall on one another in the first-level cache.
constexpr double kDirectPairs = 96.0 * 96 * 96;

template <typename T>
bool is_direct(const Matrix<T>& a, const Matrix<T>& b, const Extents& e,
               const kernels::TileKernels<T>& tiles, int threads) {
  return threads == 1 && e.pairs() <= kDirectPairs && a.column_stride == 1 &&
         b.column_stride == 1 && e.n % tiles.lanes == 0 && e.m % tiles.row_step == 0 &&
         a.row_stride % (4096 / static_cast<std::int64_t>(sizeof(T))) != 0;
}

// Tiles of a few rows wait for their own sums: what is left after the last whole tile is shared
// evenly with it.
template <typename T>
std::int64_t rows_of_next_tile(const kernels::TileKernels<T>& tiles, std::int64_t left) {
  if (left <= tiles.rows) return left;
  if (left >= 2 * tiles.rows) return tiles.rows;
  return (left / 2 + tiles.row_step - 1) / tiles.row_step * tiles.row_step;
}

template <typename T>
void direct_product(const Matrix<T>& a, const Matrix<T>& b, const Extents& e,
                    const kernels::TileKernels<T>& tiles, const Output<T>& c) {
  for (std::int64_t j = 0; j < e.n; j += tiles.columns()) {
    const std::int64_t columns = std::min<std::int64_t>(tiles.columns(), e.n - j);
    const auto vector = static_cast<std::size_t>(columns / tiles.lanes - 1);
    for (std::int64_t i = 0, rows = 0; i < e.m; i += rows) {
      rows = rows_of_next_tile(tiles, e.m - i);
      const auto step = static_cast<std::size_t>(rows / tiles.row_step - 1);
      tiles.direct[step][vector](e.k, a.data + i * a.row_stride, a.row_stride, b.data + j,
                                 b.row_stride, c.data + i * c.row_stride + j, c.row_stride);
    }
  }
}

// A row of B or C as bits: column j in bit j % 32 of word j / 32.
void to_bits(const Matrix<bool>& b, const Extents& e, std::int64_t words, std::uint32_t* bits) {
  for (std::int64_t l = 0; l < e.k; ++l) {
    for (std::int64_t w = 0; w < words; ++w) {
      const std::int64_t first = 32 * w, count = std::min<std::int64_t>(32, e.n - first);
      const bool* from = b.data + l * b.row_stride + first * b.column_stride;
      std::uint32_t word = 0;
      for (std::int64_t j = 0; j < count; ++j) {
        word |= static_cast<std::uint32_t>(from[j * b.column_stride]) << j;
      }
      bits[l * words + w] = word;
    }
  }
}

class BitOperands final : public kernels::Operands<std::uint32_t> {
 public:
  BitOperands(const Matrix<bool>& a, const std::uint32_t* b, std::int64_t words)
      : a_(a), b_(b), words_(words), tiles_(bit_tiles()) {}

  std::uint8_t pack_left(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                         std::uint32_t* panel) const noexcept override {
    for (std::int64_t l = 0; l < terms; ++l) {
      const bool* from = a_.data + first * a_.row_stride + (begin + l) * a_.column_stride;
      for (int i = 0; i < tiles_.rows; ++i) {
        const bool is_set = i < count && from[i * a_.row_stride];
        std::fill_n(panel, tiles_.replicate, is_set ? ~std::uint32_t{0} : 0);
        panel += tiles_.replicate;
      }
    }
    return 0;
  }
  std::uint8_t pack_right(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                          std::uint32_t* panel) const noexcept override {
    for (std::int64_t l = 0; l < terms; ++l) {
      const std::uint32_t* from = b_ + (begin + l) * words_ + first;
      for (int j = 0; j < tiles_.columns(); ++j) *panel++ = j < count ? from[j] : 0;
    }
    return 0;
  }
  const kernels::TileKernels<std::uint32_t>& tiles(std::uint8_t,
                                                   std::uint8_t) const noexcept override {
    return tiles_;
  }

 private:
  const Matrix<bool> a_;
  const std::uint32_t* b_;
  const std::int64_t words_;
  const kernels::TileKernels<std::uint32_t>& tiles_;
};

}  // namespace

template <typename T>
void real_product(const Matrix<T>& a, const Matrix<T>& b, const Extents& e, const Output<T>& c,
                  const Execution& execution) {
  const kernels::TileKernels<T>& tiles = kernels::real_tiles(T{});
  if (is_direct(a, b, e, tiles, execution.threads)) return direct_product(a, b, e, tiles, c);
  run<T>(PlainOperands<T>(a, b, tiles, nullptr), e, c, execution);
}

template <typename T>
void max_plus_product(const Matrix<T>& a, const Matrix<T>& b, const Extents& e, const Output<T>& c,
                      const Execution& execution) {
  const CompareTiles<T>& tiles = max_plus_tiles(T{});
  run<T>(PlainOperands<T>(a, b, tiles.plain, &tiles.careful), e, c, execution);
}

template <typename T>
void min_plus_product(const Matrix<T>& a, const Matrix<T>& b, const Extents& e, const Output<T>& c,
                      const Execution& execution) {
  const CompareTiles<T>& tiles = min_plus_tiles(T{});
  run<T>(PlainOperands<T>(a, b, tiles.plain, &tiles.careful), e, c, execution);
}

void boolean_product(const Matrix<bool>& a, const Matrix<bool>& b, const Extents& e,
                     const Output<bool>& c, const Execution& execution) {
  const std::int64_t words = (e.n + 31) / 32;
  const kernels::AlignedArray<std::uint32_t> right(e.k * words), result(e.m * words);
  to_bits(b, e, words, right.data());
  run<std::uint32_t>(BitOperands(a, right.data(), words), {e.m, e.k, words}, {result.data(), words},
                     execution);
  for (std::int64_t i = 0; i < e.m; ++i) {
    for (std::int64_t j = 0; j < e.n; ++j) {
      c.data[i * c.row_stride + j] = ((result[i * words + j / 32] >> (j % 32)) & 1) != 0;
    }
  }
}

#define ASSAY_INSTANTIATE(T)                                                                       \
  template void real_product(const Matrix<T>&, const Matrix<T>&, const Extents&, const Output<T>&, \
                             const Execution&);                                                    \
  template void max_plus_product(const Matrix<T>&, const Matrix<T>&, const Extents&,               \
                                 const Output<T>&, const Execution&);                              \
  template void min_plus_product(const Matrix<T>&, const Matrix<T>&, const Extents&,               \
                                 const Output<T>&, const Execution&)
ASSAY_INSTANTIATE(float);
ASSAY_INSTANTIATE(double);
#undef ASSAY_INSTANTIATE

}  // namespace assay::semiring::simd
