// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/product.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "compiler/cpu/gemv_kernels.h"
#include "compiler/cpu/linear_product.h"
#include "compiler/cpu/pair_product.h"
#include "compiler/cpu/tile_moves.h"
#include "compiler/cpu/widened_panels.h"
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
      : a_(a), b_(b), tiles_(kernels::real_tiles(T{})) {}

  std::uint8_t pack_left(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                         T* panel) const noexcept override {
    const PanelFactor rows{a_.data, a_.dtype, a_.row_stride, a_.column_stride};
    pack_widened(rows.from(first, begin), count, terms, tiles_.rows, tiles_.replicate, panel);
    return 0;
  }
  std::uint8_t pack_right(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                          T* panel) const noexcept override {
    const PanelFactor columns{b_.data, b_.dtype, b_.column_stride, b_.row_stride};
    pack_widened(columns.from(first, begin), count, terms, tiles_.columns(), 1, panel);
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
  const Factor a_, b_;
  const kernels::TileKernels<T>& tiles_;
};

// Pieces of columns for whoever is free: about `each` for a thread, of at least `least`.
// f(begin, end, worker)
template <typename F>
void share_columns(int threads, std::int64_t n, std::int64_t least, std::int64_t each, const F& f) {
  const std::int64_t even = kernels::divide_up(n, threads == 1 ? 1 : each * threads);
  const std::int64_t piece =
      std::clamp<std::int64_t>(kernels::divide_up(even, 64) * 64, least, 4096);
  std::atomic<std::int64_t> next = 0;
  kernels::share_work(threads, [&](int worker) noexcept {
    for (;;) {
      const std::int64_t begin = next.fetch_add(1, std::memory_order_relaxed) * piece;
      if (begin >= n) return;
      f(begin, std::min(n, begin + piece), worker);
    }
  });
}

void multiply_few_rows(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k,
                       std::int64_t n, const SumsSink<float>& sink, int threads) {
  const GemvKernels& kernels = gemv_kernels();
  const auto size = static_cast<std::int64_t>(size_of(b.dtype));
  const std::int64_t whole = kernels::divide_up(k, kernels.step) * kernels.step;
  // Rows a power of two apart would fall on one another in the nearest cache. Parts of 2 KiB of
  // eight rows lie side by side in it if rows are half a page and a line apart.
  constexpr std::int64_t kPage = 1024, kApart = kPage / 2 + 16;  // in elements
  const std::int64_t padded =
      m == 1 ? whole : (whole + kPage - 1 - kApart) / kPage * kPage + kApart;
  const bool is_dot = b.row_stride == 1;
  const std::int64_t taken = gemv_rows(m);
  const bool is_own = sink.taker != nullptr;  // have sums memory of their own
  const kernels::AlignedArray<float> rows(2 * taken * padded), own(is_own ? taken * n : 0);
  float* plain = rows.data() + taken * padded;
  float* c = is_own ? own.data() : sink.data;
  const std::int64_t c_stride = is_own ? n : sink.stride;
  std::fill(rows.data() + m * padded, rows.data() + taken * padded, 0.0f);
  std::fill(plain + m * padded, plain + taken * padded, 0.0f);
  for (std::int64_t i = 0; i < m; ++i) {
    float* row = plain + i * padded;
    std::fill(row + k, row + whole, 0.0f);
    widen_elements(a.dtype, a.data + i * a.row_stride * static_cast<std::int64_t>(size_of(a.dtype)),
                   a.column_stride, k, row);
    if (is_dot) kernels.arrange(b.dtype, row, whole, rows.data() + i * padded);
  }
  const int rows_at_once = static_cast<int>(m);
  const int team = m * n * k < (1 << 17) ? 1 : threads;
  const auto hand_over = [&](std::int64_t begin, std::int64_t end, int worker) {
    if (is_own) sink.taker->take({0, m, begin, end - begin, c + begin, c_stride, worker});
  };
  if (is_dot) {
    share_columns(team, n, 16, 16, [&](std::int64_t begin, std::int64_t end, int worker) {
      kernels.dots(b.dtype, rows_at_once, rows.data(), padded,
                   b.data + begin * b.column_stride * size, b.column_stride, k, end - begin,
                   c + begin, c_stride);
      hand_over(begin, end, worker);
    });
    return;
  }
  // Memory is read fastest in long runs: whole rows of the matrix, or much of them, for some of the
  // terms. Those have sums of their own, which are added up at last; what is added to what is a
  // matter of the shape, not of threads.
  constexpr std::int64_t kPartTerms = 128, kOwnRows = 16, kRun = 4096, kLeastRun = 1024;
  const std::int64_t parts = std::clamp<std::int64_t>(k / kPartTerms, 1, kOwnRows / taken);
  const std::int64_t piece = std::min(n, std::max(kRun / taken, kLeastRun));
  const std::int64_t pieces = kernels::divide_up(n, piece);
  const std::int64_t pitch = n + 16;
  const kernels::AlignedArray<float> part_sums(parts * taken * pitch);
  kernels::share_items(team, parts * pieces, [&](std::int64_t item) noexcept {
    const auto part = item / pieces;
    const auto terms = kernels::share(k, static_cast<int>(part), static_cast<int>(parts));
    const std::int64_t begin = item % pieces * piece, count = std::min(piece, n - begin);
    float* to = part_sums.data() + part * taken * pitch + begin;
    for (std::int64_t i = 0; i < taken; ++i) std::fill_n(to + i * pitch, count, 0.0f);
    kernels.sums(b.dtype, rows_at_once, plain + terms.begin, padded,
                 b.data + (terms.begin * b.row_stride + begin) * size, b.row_stride,
                 terms.end - terms.begin, count, to, pitch);
  });
  share_columns(n * m < (1 << 14) ? 1 : team, n, 512, 2,
                [&](std::int64_t begin, std::int64_t end, int worker) {
                  for (std::int64_t i = 0; i < m; ++i) {
                    float* to = c + i * c_stride;
                    const float* from = part_sums.data() + i * pitch;
                    std::copy(from + begin, from + end, to + begin);
                    for (std::int64_t part = 1; part < parts; ++part) {
                      from += taken * pitch;
                      for (std::int64_t j = begin; j < end; ++j) to[j] += from[j];
                    }
                  }
                  hand_over(begin, end, worker);
                });
}

Factor transposed(const Factor& x) { return {x.data, x.dtype, x.column_stride, x.row_stride}; }

// Takes sums of a transposed product, and hands them on as those of the product itself.
class TurnedSums final : public SumsTaker<float> {
 public:
  // Of `columns` columns, kMostGemvRows at most.
  TurnedSums(const SumsSink<float>& sink, std::int64_t columns, int threads)
      : sink_(sink),
        columns_(columns),
        memory_(sink.taker != nullptr ? kPiece * columns * std::max(threads, 1) : 0) {}

  void take(const SumsBlock<float>& block) const noexcept override {
    for (std::int64_t row = 0; row < block.columns; row += kPiece) {
      const std::int64_t first = block.column + row, rows = std::min(kPiece, block.columns - row);
      const bool is_taken = sink_.taker != nullptr;
      float* to = is_taken ? memory_.data() + kPiece * columns_ * block.worker
                           : sink_.data + first * sink_.stride;
      const std::int64_t stride = is_taken ? columns_ : sink_.stride;
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns_; ++j)
          to[i * stride + j] = block.sums[j * block.stride + row + i];
      }
      if (is_taken) sink_.taker->take({first, rows, 0, columns_, to, stride, block.worker});
    }
  }

 private:
  static constexpr std::int64_t kPiece = 512;  // rows that are handed on at once

  const SumsSink<float>& sink_;
  const std::int64_t columns_;
  const kernels::AlignedArray<float> memory_;  // of each worker
};

// (a b)ᵀ = bᵀ aᵀ: few rows times a matrix that is read where it lies.
void multiply_few_columns(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k,
                          std::int64_t n, const SumsSink<float>& sink, int threads) {
  const TurnedSums turned(sink, n, threads);
  multiply_few_rows(transposed(b), transposed(a), n, k, m, {.taker = &turned}, threads);
}

template <typename T>
void multiply_blocked(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k,
                      std::int64_t n, T* c, std::int64_t c_stride, const ProductOptions& options) {
  const MixedOperands<T> operands(a, b);
  const auto& tiles = operands.tiles(0, 0);
  const auto blocking =
      kernels::blocking_for(options.caches, m, k, n, sizeof(T), tiles.left_width(), tiles.columns(),
                            std::numeric_limits<std::int64_t>::max());
  kernels::blocked_product(operands, m, k, n, kernels::Output<T>{c, c_stride}, blocking,
                           options.threads);
}

// Sums that are all there, in blocks of rows for whoever is free.
template <typename T>
void hand_over_all(const T* c, std::int64_t m, std::int64_t n, const SumsSink<T>& sink,
                   int threads) {
  constexpr std::int64_t kElements = 1 << 13;
  const std::int64_t rows = std::clamp<std::int64_t>(kElements / n, 1, m);
  std::atomic<std::int64_t> next = 0;
  kernels::share_work(m * n < 2 * kElements ? 1 : threads, [&](int worker) noexcept {
    for (;;) {
      const std::int64_t row = next.fetch_add(1, std::memory_order_relaxed) * rows;
      if (row >= m) return;
      sink.taker->take({row, std::min(rows, m - row), 0, n, c + row * n, n, worker});
    }
  });
}

}  // namespace

ProductForm form_of(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k,
                    std::int64_t n, const ProductOptions& options) {
  if (k == 0) return ProductForm::kPacked;
  if (!options.packs_both && is_paired(a, b, m, n, options)) return ProductForm::kPaired;
  if (m <= kMostGemvRows && (b.row_stride == 1 || b.column_stride == 1))
    return ProductForm::kFewRows;
  // Of a few terms that lie together, most of a vector would be zeros.
  constexpr std::int64_t kLeastTerms = 32;
  if (n <= kMostGemvRows && (a.row_stride == 1 || (a.column_stride == 1 && k >= kLeastTerms)))
    return ProductForm::kFewColumns;
  return !options.packs_both && is_linear(b, m, n) ? ProductForm::kLinear : ProductForm::kPacked;
}

template <typename T>
void multiply(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k, std::int64_t n,
              const SumsSink<T>& sink, const ProductOptions& given) {
  if (m == 0 || n == 0) return;
  // Some microseconds: done before a helper has come.
  constexpr std::int64_t kAlone = 1 << 19;
  auto options = given;
  if (m > kMostGemvRows && m * n * k < kAlone) options.threads = 1;
  if constexpr (std::is_same_v<T, float>) {
    switch (form_of(a, b, m, k, n, options)) {
      case ProductForm::kFewRows:
        return multiply_few_rows(a, b, m, k, n, sink, options.threads);
      case ProductForm::kFewColumns:
        return multiply_few_columns(a, b, m, k, n, sink, options.threads);
      case ProductForm::kPaired:
        return multiply_paired(a, b, m, k, n, sink, options);
      case ProductForm::kLinear:
        return multiply_linear(a, b, m, k, n, sink, options);
      case ProductForm::kPacked:
        break;
    }
  }
  const kernels::AlignedArray<T> own(sink.taker != nullptr ? m * n : 0);
  T* c = sink.taker != nullptr ? own.data() : sink.data;
  const std::int64_t stride = sink.taker != nullptr ? n : sink.stride;
  if (k == 0) {
    for (std::int64_t i = 0; i < m; ++i) std::fill_n(c + i * stride, n, T{0});
  } else {
    multiply_blocked(a, b, m, k, n, c, stride, options);
  }
  if (sink.taker != nullptr) hand_over_all(c, m, n, sink, options.threads);
}

template void multiply(const Factor&, const Factor&, std::int64_t, std::int64_t, std::int64_t,
                       const SumsSink<float>&, const ProductOptions&);
template void multiply(const Factor&, const Factor&, std::int64_t, std::int64_t, std::int64_t,
                       const SumsSink<double>&, const ProductOptions&);

}  // namespace assay::compiler
