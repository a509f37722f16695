// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/log_product.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "kernels/memory/scratch.h"
#include "kernels/threads/crew.h"
#include "kernels/tiles/blocked_product.h"
#include "semiring/simd/certified_kernels.h"
#include "semiring/simd/exact_path.h"

namespace assay::semiring::simd {
namespace {

// Of one factor: the maximum of each row of A (column of B), and what is subtracted for it, 0 where
// the maximum is not finite. Padded by a tile's width, so that whole vectors can be read.
template <typename T>
struct Maxima {
  static constexpr int kPadding = 64;
  explicit Maxima(std::int64_t size) : values(size + kPadding), shifts(size + kPadding) {
    std::fill_n(values.data() + size, kPadding, T{0});
    std::fill_n(shifts.data() + size, kPadding, T{0});
  }
  // Entries [begin, end) from a panel source that starts at `begin`.
  void fill(const CertifiedKernels<T>& kernels, const kernels::PanelSource<T>& source,
            std::int64_t begin) {
    kernels.maxima(source, values.data() + begin);
    for (std::int64_t i = begin; i < begin + source.count; ++i) {
      shifts[i] = std::isfinite(values[i]) ? values[i] : T{0};
    }
  }
  kernels::AlignedArray<T> values, shifts;
};

template <typename T>
class LogOperands final : public kernels::Operands<T> {
 public:
  LogOperands(const Matrix<T>& a, const Matrix<T>& b, const Extents& e, const Output<T>& c,
              int threads)
      : a_(a),
        b_(b),
        c_(c),
        pack_(kernels::pack_kernels(T{})),
        tiles_(kernels::real_tiles(T{})),
        kernels_(certified_kernels(T{})),
        left_(e.m),
        right_(e.n),
        exact_(a, b, e, threads),
        refused_(threads) {
    const double k = static_cast<double>(e.k);
    // What underflows is below 4k times the smallest normal number: a quarter of a rounding of S.
    least_ = static_cast<T>(k * 16 * double{std::numeric_limits<T>::min()} /
                            double{std::numeric_limits<T>::epsilon() / 2});
    most_ = static_cast<T>(2 * k);
    block_ = std::max<std::int64_t>(32, std::llround(2 * std::sqrt(k)));
    kernels::share_items(threads, 2 * threads, [&](std::int64_t share) noexcept {
      find_maxima(e, static_cast<int>(share), threads);
    });
  }

  std::uint8_t pack_left(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                         T* panel) const noexcept override {
    pack_.copy_exp(a_.rows(first, count, begin, terms), tiles_.rows, left_.shifts.data() + first,
                   panel);
    return 0;
  }
  std::uint8_t pack_right(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                          T* panel) const noexcept override {
    pack_.copy_exp(b_.columns(first, count, begin, terms), tiles_.columns(),
                   right_.shifts.data() + first, panel);
    return 0;
  }
  const kernels::TileKernels<T>& tiles(std::uint8_t, std::uint8_t) const noexcept override {
    return tiles_;
  }

  // A factor, a product and a partial sum below the smallest normal number are lost: each costs at
  // most that number a term, and the certificate leaves room for them.
  bool may_flush_denormals() const noexcept override { return true; }

  void finish(std::int64_t row, int rows, std::int64_t column, int columns,
              int thread) const noexcept override {
    RowBits refused[64];
    T* c = c_.data + row * c_.row_stride + column;
    const LogFinish<T> finish{left_.values.data() + row, right_.values.data() + column, least_,
                              most_};
    kernels_.finish_log(finish, rows, columns, c, c_.row_stride, refused);
    if (std::all_of(refused, refused + rows, [](RowBits bits) { return bits == 0; })) return;
    refused_.add(thread, exact_.recompute(kernels_.exact_log, block_, row, rows, column, columns,
                                          refused, thread, [&](int i, int j, T value) {
                                            c[i * c_.row_stride + j] = value;
                                          }));
  }

  std::int64_t refused() const { return refused_.total(); }

 private:
  // The left factor's shares come first, then the right factor's.
  void find_maxima(const Extents& e, int index, int threads) {
    constexpr std::int64_t kStep = 1 << 12;
    const bool is_left = index < threads;
    const kernels::Range range = kernels::share(is_left ? e.m : e.n, index % threads, threads);
    for (std::int64_t first = range.begin; first < range.end; first += kStep) {
      const auto count = static_cast<int>(std::min(kStep, range.end - first));
      if (is_left) {
        left_.fill(kernels_, a_.rows(first, count, 0, e.k), first);
      } else {
        right_.fill(kernels_, b_.columns(first, count, 0, e.k), first);
      }
    }
  }

  const Matrix<T> a_, b_;
  const Output<T> c_;
  const kernels::PackKernels<T>& pack_;
  const kernels::TileKernels<T>& tiles_;
  const CertifiedKernels<T>& kernels_;
  T least_, most_;
  std::int64_t block_;
  Maxima<T> left_, right_;
  const ExactPath<T> exact_;
  const ThreadCounters refused_;
};

}  // namespace

template <typename T>
std::int64_t log_product(const Matrix<T>& a, const Matrix<T>& b, const Extents& e,
                         const Output<T>& c, const Execution& execution) {
  const LogOperands<T> operands(a, b, e, c, execution.threads);
  const kernels::TileKernels<T>& tiles = kernels::real_tiles(T{});
  // Of the 8·√k + 16 roundings that the bound grants, 8 go to the exponentials, the logarithm and
  // the rest; the sum takes what remains.
  const double roundings = 8 * std::sqrt(static_cast<double>(e.k)) + 8;
  const kernels::Blocking blocking =
      kernels::blocking_for(execution.caches, e.m, e.k, e.n, sizeof(T), tiles.left_width(),
                            tiles.columns(), kernels::terms_for_roundings(e.k, roundings, e.k));
  check(static_cast<double>(blocking.terms + (e.k + blocking.terms - 1) / blocking.terms) <=
            roundings,
        "the blocks of a certified sum keep its bound");
  kernels::blocked_product(operands, e.m, e.k, e.n, c, blocking, execution.threads);
  return operands.refused();
}

template std::int64_t log_product(const Matrix<float>&, const Matrix<float>&, const Extents&,
                                  const Output<float>&, const Execution&);
template std::int64_t log_product(const Matrix<double>&, const Matrix<double>&, const Extents&,
                                  const Output<double>&, const Execution&);

}  // namespace assay::semiring::simd
