// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/blocked_product.h"

#include <algorithm>

#include "base/attend.h"
#include "kernels/memory/scratch.h"
#include "kernels/threads/crew.h"
#include "kernels/tiles/flush_denormals.h"
#include "kernels/tiles/product_progress.h"

namespace assay::kernels {
namespace {

// One block of rows × columns × terms, packed.
template <typename T>
struct Packed {
  std::int64_t row, rows, column, columns;  // of C
  std::int64_t begin, terms;
  std::int64_t left_panels, right_panels;
  T *left, *right;  // panels one after the other
  std::uint8_t *left_flags, *right_flags;
};

// One entry of a tile that does not cover whole vectors or rows: summed aside, then merged.
template <typename T>
struct EdgeSums {
  static constexpr int kMaxRows = 16, kMaxColumns = 64;
  alignas(64) T sums[kMaxRows * kMaxColumns];
};

template <typename T>
class Multiplication {
 public:
  Multiplication(const Operands<T>& operands, std::int64_t m, std::int64_t k, std::int64_t n,
                 const Output<T>& c, const Blocking& blocking, int workers)
      : operands_(operands),
        shape_(operands.tiles(0, 0)),
        m_(m),
        k_(k),
        n_(n),
        c_(c),
        blocking_(blocking),
        left_panels_(divide_up(blocking.rows, shape_.rows)),
        right_panels_(divide_up(blocking.columns, shape_.columns())),
        progress_(workers, left_panels_, right_panels_, blocking.right_panels),
        // Narrow tiles read a whole vector of rows, beyond the panel's end.
        left_size_(shape_.left_width() * blocking.terms + shape_.row_lanes),
        right_size_(shape_.columns() * blocking.terms),
        left_(progress_.copies() * left_panels_ * left_size_),
        right_(progress_.copies() * right_panels_ * right_size_),
        flags_(progress_.copies() * (left_panels_ + right_panels_)) {}

  // What one worker of any number does.
  void work(int worker) noexcept {
    const int cells = progress_.cells();
    std::int64_t step = 0;
    for (std::int64_t column = 0; column < n_; column += blocking_.columns) {
      for (std::int64_t row = 0; row < m_; row += blocking_.rows) {
        progress_.await_all(step);
        for (std::int64_t begin = 0, terms = 0; begin < k_; begin += terms, ++step) {
          terms = operands_.block_terms(begin, std::min(blocking_.terms, k_ - begin));
          const Packed<T> block = layout(row, column, begin, terms, step);
          for (int i = 0; i < cells; ++i) multiply_cell(block, (worker + i) % cells, step, worker);
        }
      }
    }
  }

 private:
  Packed<T> layout(std::int64_t row, std::int64_t column, std::int64_t begin, std::int64_t terms,
                   std::int64_t step) const noexcept {
    const std::int64_t copy = step % progress_.copies();
    Packed<T> b;
    b.row = row;
    b.rows = std::min(blocking_.rows, m_ - row);
    b.column = column;
    b.columns = std::min(blocking_.columns, n_ - column);
    b.begin = begin;
    b.terms = terms;
    b.left_panels = divide_up(b.rows, shape_.rows);
    b.right_panels = divide_up(b.columns, shape_.columns());
    b.left = left_.data() + copy * left_panels_ * left_size_;
    b.right = right_.data() + copy * right_panels_ * right_size_;
    b.left_flags = flags_.data() + copy * (left_panels_ + right_panels_);
    b.right_flags = b.left_flags + left_panels_;
    return b;
  }

  int rows_of(const Packed<T>& b, std::int64_t p) const {
    return static_cast<int>(std::min<std::int64_t>(shape_.rows, b.rows - p * shape_.rows));
  }
  int columns_of(const Packed<T>& b, std::int64_t q) const {
    return static_cast<int>(
        std::min<std::int64_t>(shape_.columns(), b.columns - q * shape_.columns()));
  }

  // Takes units of a cell until none is left.
  void multiply_cell(const Packed<T>& b, int cell, std::int64_t step, int worker) noexcept {
    const ThreadGrid& grid = progress_.grid();
    const int i = cell % grid.left, j = cell / grid.left;
    const Range left = share(b.left_panels, i, grid.left);
    const Range right = share(b.right_panels, j, grid.right);
    const std::int64_t count = left.end - left.begin;
    while (const auto unit = progress_.take(cell, step)) {
      const std::int64_t first =
          count > 0 ? right.begin + *unit / count * blocking_.right_panels : right.end;
      // What nobody wants any more is done as soon as it is taken.
      if (first < right.end && still_wanted()) {
        progress_.await_turn(cell, *unit, step);
        // Cells side by side begin at different panels: each packs some, and finds the others
        // packed when it comes to them.
        const std::int64_t p = left.begin + (*unit + count * j / grid.right) % count;
        const std::int64_t end = std::min(right.end, first + blocking_.right_panels);
        pack_left(b, p, i, step);
        const std::int64_t width = end - first;
        for (std::int64_t at = 0; at < width; ++at) {
          const std::int64_t q = first + (at + width * i / grid.left) % width;
          multiply(b, p, q, j, step);
          if (b.begin + b.terms < k_) continue;
          operands_.finish(b.row + p * shape_.rows, rows_of(b, p), b.column + q * shape_.columns(),
                           columns_of(b, q), worker);
        }
      }
      progress_.done(cell, *unit, step);
    }
  }

  void pack_left(const Packed<T>& b, std::int64_t p, int row, std::int64_t step) noexcept {
    if (!progress_.claims_left(p, row, step)) return;
    b.left_flags[p] = operands_.pack_left(b.row + p * shape_.rows, rows_of(b, p), b.begin, b.terms,
                                          left_panel(b, p));
    progress_.left_is_packed(p, step);
  }

  void multiply(const Packed<T>& b, std::int64_t p, std::int64_t q, int column,
                std::int64_t step) noexcept {
    if (progress_.claims_right(q, column, step)) {
      multiply_packing(b, p, q);
      progress_.right_is_packed(q, step);
    } else {
      multiply_tile(b, p, q, rows_of(b, p), columns_of(b, q));
    }
  }

  // Packs a right panel and multiplies by it: in one go where the tile can do that.
  void multiply_packing(const Packed<T>& b, std::int64_t p, std::int64_t q) const noexcept {
    const int rows = rows_of(b, p), columns = columns_of(b, q);
    const std::int64_t column = b.column + q * shape_.columns();
    PanelSource<T> source{};
    if (shape_.packing != nullptr && rows == shape_.rows && columns == shape_.columns()) {
      source = operands_.plain_right(column, columns, b.begin, b.terms);
    }
    if (source.data == nullptr) {
      b.right_flags[q] = operands_.pack_right(column, columns, b.begin, b.terms, right_panel(b, q));
      return multiply_tile(b, p, q, rows, columns);
    }
    b.right_flags[q] = 0;
    shape_.packing(b.terms, left_panel(b, p), source.data, source.term_stride, right_panel(b, q),
                   c_tile(b, p, q), c_.row_stride, accumulates(b));
  }

  bool accumulates(const Packed<T>& b) const { return c_.accumulate || b.begin > 0; }
  T* left_panel(const Packed<T>& b, std::int64_t p) const { return b.left + p * left_size_; }
  T* right_panel(const Packed<T>& b, std::int64_t q) const { return b.right + q * right_size_; }
  T* c_tile(const Packed<T>& b, std::int64_t p, std::int64_t q) const {
    return c_.data + (b.row + p * shape_.rows) * c_.row_stride + b.column + q * shape_.columns();
  }

  void multiply_tile(const Packed<T>& b, std::int64_t p, std::int64_t q, int rows,
                     int columns) const noexcept {
    const FlushDenormals flush(operands_.may_flush_denormals());
    const TileKernels<T>& tiles = operands_.tiles(b.left_flags[p], b.right_flags[q]);
    const T* left = left_panel(b, p);
    const T* right = right_panel(b, q);
    T* c = c_tile(b, p, q);
    const bool accumulate = accumulates(b);
    const int step = (rows + tiles.row_step - 1) / tiles.row_step - 1;
    const bool whole_rows = rows % tiles.row_step == 0;
    const int vectors = columns / tiles.lanes;
    if (vectors > 0 && whole_rows) {
      tiles.tile[step][vectors - 1](b.terms, left, right, c, c_.row_stride, accumulate);
    } else if (vectors > 0) {
      EdgeSums<T> edge;
      const int width = vectors * tiles.lanes;
      tiles.tile[step][vectors - 1](b.terms, left, right, edge.sums, width, false);
      merge(tiles, edge.sums, width, 1, rows, width, c, accumulate);
    }
    const int done = vectors * tiles.lanes;
    if (done < columns) {
      multiply_edge(tiles, b.terms, left, right + done, rows, columns - done, step, c + done,
                    accumulate);
    }
  }

  // The last columns, fewer than a vector: with lanes along the rows where that is less work.
  void multiply_edge(const TileKernels<T>& tiles, std::int64_t terms, const T* left, const T* right,
                     int rows, int columns, int step, T* c, bool accumulate) const noexcept {
    EdgeSums<T> edge;
    int form = 0;
    while (form < TileKernels<T>::kNarrowForms && (1 << form) < columns) ++form;
    const bool is_narrow = tiles.row_lanes > 0 && form < TileKernels<T>::kNarrowForms &&
                           (1 << form) * (tiles.row_lanes / tiles.lanes) < rows;
    if (is_narrow) {
      tiles.narrow[form](terms, left, right, edge.sums);
      merge(tiles, edge.sums, 1, tiles.row_lanes, rows, columns, c, accumulate);
    } else {
      tiles.tile[step][0](terms, left, right, edge.sums, tiles.lanes, false);
      merge(tiles, edge.sums, tiles.lanes, 1, rows, columns, c, accumulate);
    }
  }

  void merge(const TileKernels<T>& tiles, const T* sums, int row_stride, int column_stride,
             int rows, int columns, T* c, bool accumulate) const noexcept {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        const T sum = sums[i * row_stride + j * column_stride];
        T& entry = c[i * c_.row_stride + j];
        entry = accumulate ? tiles.merge(entry, sum) : sum;
      }
    }
  }

  const Operands<T>& operands_;
  const TileKernels<T>& shape_;
  const std::int64_t m_, k_, n_;
  const Output<T> c_;
  const Blocking blocking_;
  const std::int64_t left_panels_, right_panels_;
  ProductProgress progress_;
  const std::int64_t left_size_, right_size_;  // of a panel, whatever its terms
  const AlignedArray<T> left_, right_;
  const AlignedArray<std::uint8_t> flags_;
};

}  // namespace

// Of a product that is wanted no more (base/attend.h) the tiles that are left are left out.
template <typename T>
void blocked_product(const Operands<T>& operands, std::int64_t m, std::int64_t k, std::int64_t n,
                     const Output<T>& c, const Blocking& blocking, int threads) {
  Multiplication<T> multiplication(operands, m, k, n, c, blocking, threads);
  share_work(threads, [&](int worker) noexcept { multiplication.work(worker); });
}

template void blocked_product(const Operands<float>&, std::int64_t, std::int64_t, std::int64_t,
                              const Output<float>&, const Blocking&, int);
template void blocked_product(const Operands<double>&, std::int64_t, std::int64_t, std::int64_t,
                              const Output<double>&, const Blocking&, int);
template void blocked_product(const Operands<std::uint32_t>&, std::int64_t, std::int64_t,
                              std::int64_t, const Output<std::uint32_t>&, const Blocking&, int);

}  // namespace assay::kernels
