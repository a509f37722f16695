// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/euclidean_product.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/memory/scratch.h"
#include "kernels/tiles/blocked_product.h"
#include "semiring/simd/certified_kernels.h"
#include "semiring/simd/exact_path.h"
#include "semiring/simd/scaled_distance.h"

namespace assay::semiring::simd {
namespace {

// The centre: for each term the mean over up to 32 rows of A and as many columns of B, evenly
// chosen. Any centre is right; one near the data makes the norms small.
constexpr std::int64_t kSamples = 32;

template <typename T>
void find_centre(const Matrix<T>& a, const Matrix<T>& b, const Extents& e, T* centre) {
  std::fill_n(centre, e.k, T{0});
  const std::int64_t rows = std::min(kSamples, e.m), columns = std::min(kSamples, e.n);
  for (std::int64_t s = 0; s < rows; ++s) {
    const T* row = a.data + s * e.m / rows * a.row_stride;
    for (std::int64_t l = 0; l < e.k; ++l) centre[l] += row[l * a.column_stride];
  }
  for (std::int64_t l = 0; l < e.k; ++l) {
    const T* row = b.data + l * b.row_stride;
    for (std::int64_t s = 0; s < columns; ++s)
      centre[l] += row[s * e.n / columns * b.column_stride];
    centre[l] /= static_cast<T>(rows + columns);
    if (!std::isfinite(centre[l])) centre[l] = 0;
  }
}

template <typename T>
class EuclideanOperands final : public kernels::Operands<T> {
 public:
  EuclideanOperands(const Matrix<T>& a, const Matrix<T>& b, const Extents& e, const Output<T>& c,
                    std::int64_t terms, int threads)
      : a_(a),
        b_(b),
        e_(e),
        c_(c),
        pack_(kernels::pack_kernels(T{})),
        tiles_(kernels::real_tiles(T{})),
        kernels_(certified_kernels(T{})),
        centre_(e.k),
        left_norms_(e.m + kPadding),
        right_norms_(e.n + kPadding),
        exact_(a, b, e, threads),
        refused_(threads) {
    find_centre(a, b, e, centre_.data());
    const double k = static_cast<double>(e.k);
    const double blocks = std::ceil(k / static_cast<double>(terms));
    const double in_product = static_cast<double>(terms) + blocks;
    const double in_norms = std::ceil(static_cast<double>(terms) / 4) + 3 + blocks;
    share_ = static_cast<T>(1.01 * (in_product + in_norms + 2) / (16 * std::sqrt(k) + 24));
    // Sums of denormal squares err by 2^-150 a term (f32): this far up that is a quarter of a
    // rounding. Nothing overflows.
    least_ = static_cast<T>(k * 16 * double{std::numeric_limits<T>::min()});
    most_ = std::numeric_limits<T>::max() / 16;
    block_ = std::max<std::int64_t>(64, std::llround(4 * std::sqrt(k)));
  }

  // The norms are those of the packed numbers themselves: summed while the panel is in cache.
  std::uint8_t pack_left(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                         T* panel) const noexcept override {
    pack_.copy_centred(a_.rows(first, count, begin, terms), tiles_.rows, centre_.data() + begin,
                       panel);
    add_norms(panel, tiles_.rows, count, terms, begin > 0, left_norms_.data() + first);
    return 0;
  }
  std::uint8_t pack_right(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                          T* panel) const noexcept override {
    pack_.copy_centred(b_.columns(first, count, begin, terms), tiles_.columns(),
                       centre_.data() + begin, panel);
    add_norms(panel, tiles_.columns(), count, terms, begin > 0, right_norms_.data() + first);
    return 0;
  }
  const kernels::TileKernels<T>& tiles(std::uint8_t, std::uint8_t) const noexcept override {
    return tiles_;
  }

  void finish(std::int64_t row, int rows, std::int64_t column, int columns,
              int thread) const noexcept override {
    RowBits refused[64];
    T* c = c_.data + row * c_.row_stride + column;
    const EuclideanFinish<T> finish{left_norms_.data() + row, right_norms_.data() + column, share_,
                                    least_, most_};
    kernels_.finish_euclidean(finish, rows, columns, c, c_.row_stride, refused);
    if (std::all_of(refused, refused + rows, [](RowBits bits) { return bits == 0; })) return;
    refused_.add(thread, exact_.recompute(kernels_.exact_squares, block_, row, rows, column,
                                          columns, refused, thread, [&](int i, int j, T square) {
                                            c[i * c_.row_stride + j] =
                                                root(row + i, column + j, square);
                                          }));
  }

  std::int64_t refused() const { return refused_.total(); }

 private:
  static constexpr int kPadding = 64;

  // Panels may be wider than the matrix: their padding goes through a buffer, because the norms
  // beyond it belong to another panel.
  void add_norms(const T* panel, int width, int count, std::int64_t terms, bool accumulate,
                 T* norms) const noexcept {
    T sums[kPadding];
    kernels_.norms(panel, width, terms, false, sums);
    for (int i = 0; i < count; ++i) norms[i] = accumulate ? norms[i] + sums[i] : sums[i];
  }

  // NaN fails the comparison as well, and may be an overflow of both signs.
  T root(std::int64_t i, std::int64_t j, T square) const noexcept {
    if (square >= least_ && square <= most_) return std::sqrt(square);
    const T* left = a_.data + i * a_.row_stride;
    const T* right = b_.data + j * b_.column_stride;
    return static_cast<T>(scaled_distance(e_.k, block_, [&](std::int64_t l) {
      return static_cast<double>(left[l * a_.column_stride]) -
             static_cast<double>(right[l * b_.row_stride]);
    }));
  }

  const Matrix<T> a_, b_;
  const Extents e_;
  const Output<T> c_;
  const kernels::PackKernels<T>& pack_;
  const kernels::TileKernels<T>& tiles_;
  const CertifiedKernels<T>& kernels_;
  T share_, least_, most_;
  std::int64_t block_;
  const kernels::AlignedArray<T> centre_, left_norms_, right_norms_;
  const ExactPath<T> exact_;
  const ThreadCounters refused_;
};

}  // namespace

template <typename T>
std::int64_t euclidean_product(const Matrix<T>& a, const Matrix<T>& b, const Extents& e,
                               const Output<T>& c, const Execution& execution) {
  const kernels::TileKernels<T>& tiles = kernels::real_tiles(T{});
  // Fewer roundings in the sums let the certificate accept smaller results; shorter blocks cost
  // time. This many accept what is above a third of the norms.
  const double roundings = 4 * std::sqrt(static_cast<double>(e.k)) + 8;
  const kernels::Blocking blocking =
      kernels::blocking_for(execution.caches, e.m, e.k, e.n, sizeof(T), tiles.left_width(),
                            tiles.columns(), kernels::terms_for_roundings(e.k, roundings, e.k));
  const EuclideanOperands<T> operands(a, b, e, c, blocking.terms, execution.threads);
  kernels::blocked_product(operands, e.m, e.k, e.n, c, blocking, execution.threads);
  return operands.refused();
}

template std::int64_t euclidean_product(const Matrix<float>&, const Matrix<float>&, const Extents&,
                                        const Output<float>&, const Execution&);
template std::int64_t euclidean_product(const Matrix<double>&, const Matrix<double>&,
                                        const Extents&, const Output<double>&, const Execution&);

}  // namespace assay::semiring::simd
