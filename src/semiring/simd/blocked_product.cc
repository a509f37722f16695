// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/blocked_product.h"

#include <omp.h>

#include <algorithm>

#include "semiring/simd/aligned.h"
#include "semiring/simd/flush_denormals.h"

namespace assay::semiring::simd {
namespace {

std::int64_t divide_up(std::int64_t x, std::int64_t by) { return (x + by - 1) / by; }

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
                 const Output<T>& c, const Blocking& blocking)
      : operands_(operands),
        shape_(operands.tiles(0, 0)),
        m_(m),
        k_(k),
        n_(n),
        c_(c),
        blocking_(blocking),
        left_panels_(divide_up(blocking.rows, shape_.rows)),
        right_panels_(divide_up(blocking.columns, shape_.columns())),
        // Narrow tiles read a whole vector of rows, beyond the last panel's end.
        left_(left_panels_ * shape_.left_width() * blocking.terms + shape_.row_lanes),
        right_(right_panels_ * shape_.columns() * blocking.terms),
        flags_(left_panels_ + right_panels_) {}

  // The team may turn out smaller than asked for: work() knows the one that came, nothing else
  // knows any number of threads.
  void run(int threads) {
    if (threads == 1) {
      work(0, 1);
      return;
    }
#pragma omp parallel num_threads(threads)
    work(omp_get_thread_num(), omp_get_num_threads());
  }

 private:
  // A product of one thread may itself be one of many that a team shares out: it must not wait for
  // that team.
  static void wait_for_others(int threads) noexcept {
    if (threads == 1) return;
#pragma omp barrier
  }

  void work(int thread, int threads) noexcept {
    for (std::int64_t column = 0; column < n_; column += blocking_.columns) {
      for (std::int64_t row = 0; row < m_; row += blocking_.rows) {
        for (std::int64_t begin = 0, terms = 0; begin < k_; begin += terms) {
          terms = operands_.block_terms(begin, std::min(blocking_.terms, k_ - begin));
          const Packed<T> block = layout(row, column, begin, terms);
          const ThreadGrid grid = thread_grid(threads, block.left_panels, block.right_panels);
          pack(block, grid, thread, threads);
          wait_for_others(threads);
          multiply(block, grid, thread, threads);
          wait_for_others(threads);
        }
      }
    }
  }

  Packed<T> layout(std::int64_t row, std::int64_t column, std::int64_t begin,
                   std::int64_t terms) const noexcept {
    Packed<T> b;
    b.row = row;
    b.rows = std::min(blocking_.rows, m_ - row);
    b.column = column;
    b.columns = std::min(blocking_.columns, n_ - column);
    b.begin = begin;
    b.terms = terms;
    b.left_panels = divide_up(b.rows, shape_.rows);
    b.right_panels = divide_up(b.columns, shape_.columns());
    b.left = left_.data();
    b.right = right_.data();
    b.left_flags = flags_.data();
    b.right_flags = flags_.data() + left_panels_;
    return b;
  }

  int rows_of(const Packed<T>& b, std::int64_t p) const {
    return static_cast<int>(std::min<std::int64_t>(shape_.rows, b.rows - p * shape_.rows));
  }
  int columns_of(const Packed<T>& b, std::int64_t q) const {
    return static_cast<int>(
        std::min<std::int64_t>(shape_.columns(), b.columns - q * shape_.columns()));
  }

  void pack_left(const Packed<T>& b, std::int64_t p) const noexcept {
    b.left_flags[p] = operands_.pack_left(b.row + p * shape_.rows, rows_of(b, p), b.begin, b.terms,
                                          left_panel(b, p));
  }
  void pack_right(const Packed<T>& b, std::int64_t q) const noexcept {
    b.right_flags[q] = operands_.pack_right(b.column + q * shape_.columns(), columns_of(b, q),
                                            b.begin, b.terms, right_panel(b, q));
  }

  // What other threads will read. Left panels that are a thread's own are packed by it just before
  // their first use, when it still finds them in its first cache.
  void pack(const Packed<T>& b, const ThreadGrid& grid, int thread, int threads) const noexcept {
    if (grid.right > 1) {
      const Range left = share(b.left_panels, thread, threads);
      for (std::int64_t p = left.begin; p < left.end; ++p) pack_left(b, p);
    }
    const Range right = share(b.right_panels, thread, threads);
    for (std::int64_t q = right.begin; q < right.end; ++q) {
      if (!is_packed_by_tile(b, q, threads)) pack_right(b, q);
    }
  }

  // Whether the first tile that needs a right panel also packs it: nobody else may need it before.
  bool is_packed_by_tile(const Packed<T>& b, std::int64_t q, int threads) const noexcept {
    return threads == 1 && shape_.packing != nullptr && b.rows >= shape_.rows &&
           columns_of(b, q) == shape_.columns() && right_source(b, q).data != nullptr;
  }
  PanelSource<T> right_source(const Packed<T>& b, std::int64_t q) const noexcept {
    return operands_.plain_right(b.column + q * shape_.columns(), columns_of(b, q), b.begin,
                                 b.terms);
  }

  void multiply(const Packed<T>& b, const ThreadGrid& grid, int thread,
                int threads) const noexcept {
    const Range left = share(b.left_panels, thread % grid.left, grid.left);
    const Range right = share(b.right_panels, thread / grid.left, grid.right);
    const bool last = b.begin + b.terms == k_;
    for (std::int64_t first = right.begin; first < right.end; first += blocking_.right_panels) {
      const std::int64_t end = std::min(right.end, first + blocking_.right_panels);
      const bool packs = grid.right == 1 && first == right.begin;
      for (std::int64_t p = left.begin; p < left.end; ++p) {
        if (packs) pack_left(b, p);
        for (std::int64_t q = first; q < end; ++q) {
          if (p == left.begin && is_packed_by_tile(b, q, threads)) {
            multiply_packing(b, p, q);
          } else {
            multiply_tile(b, p, q, rows_of(b, p), columns_of(b, q));
          }
          if (last) {
            operands_.finish(b.row + p * shape_.rows, rows_of(b, p),
                             b.column + q * shape_.columns(), columns_of(b, q), thread);
          }
        }
      }
    }
  }

  void multiply_packing(const Packed<T>& b, std::int64_t p, std::int64_t q) const noexcept {
    const PanelSource<T> source = right_source(b, q);
    b.right_flags[q] = 0;
    shape_.packing(b.terms, left_panel(b, p), source.data, source.term_stride, right_panel(b, q),
                   c_tile(b, p, q), c_.row_stride, accumulates(b));
  }

  bool accumulates(const Packed<T>& b) const { return c_.accumulate || b.begin > 0; }
  T* left_panel(const Packed<T>& b, std::int64_t p) const {
    return b.left + p * shape_.left_width() * b.terms;
  }
  T* right_panel(const Packed<T>& b, std::int64_t q) const {
    return b.right + q * shape_.columns() * b.terms;
  }
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
  const AlignedArray<T> left_, right_;
  const AlignedArray<std::uint8_t> flags_;
};

}  // namespace

template <typename T>
void blocked_product(const Operands<T>& operands, std::int64_t m, std::int64_t k, std::int64_t n,
                     const Output<T>& c, const Blocking& blocking, int threads) {
  Multiplication<T>(operands, m, k, n, c, blocking).run(threads);
}

template void blocked_product(const Operands<float>&, std::int64_t, std::int64_t, std::int64_t,
                              const Output<float>&, const Blocking&, int);
template void blocked_product(const Operands<double>&, std::int64_t, std::int64_t, std::int64_t,
                              const Output<double>&, const Blocking&, int);
template void blocked_product(const Operands<std::uint32_t>&, std::int64_t, std::int64_t,
                              std::int64_t, const Output<std::uint32_t>&, const Blocking&, int);

}  // namespace assay::semiring::simd
