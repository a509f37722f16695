// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/gett.h"

#include <cmath>
#include <complex>
#include <limits>

#include "einsum/kernels/gett_panel.h"
#include "kernels/tiles/blocked_product.h"

namespace assay::einsum {
namespace {

using kernels::Blocking;
using kernels::PanelSource;
using kernels::TileKernels;

// A complex product is a real one of twice the terms and columns: with x = (re, im) beside each
// other in memory, each term is
//
//   [a.re a.im] · [  b.re  b.im ]
//                 [ −b.im  b.re ]
//
// and the real columns of the result are complex numbers as they lie.
template <typename T>
struct RealOf {
  using Type = T;
  static constexpr int kReals = 1;
};
template <typename R>
struct RealOf<std::complex<R>> {
  using Type = R;
  static constexpr int kReals = 2;
};
template <typename T>
using Real = typename RealOf<T>::Type;
template <typename T>
constexpr int kReals = RealOf<T>::kReals;

const kernels::CacheSizes& caches() {
  static const kernels::CacheSizes sizes = kernels::read_cache_sizes();
  return sizes;
}

template <typename T>
Blocking blocking(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto& tiles = kernels::real_tiles(Real<T>{});
  return kernels::blocking_for(caches(), m, k * kReals<T>, n * kReals<T>, sizeof(Real<T>),
                               tiles.left_width(), tiles.columns(),
                               std::numeric_limits<std::int64_t>::max());
}

template <typename T>
class GettOperands final : public kernels::Operands<Real<T>> {
 public:
  using R = Real<T>;

  GettOperands(const GettForm& form, const T* a, const T* b, T alpha, const TermOrder& order)
      : left_{a, form.m, &Loop::a},
        right_{b, form.n, &Loop::b},
        order_(order),
        alpha_(alpha),
        tiles_(kernels::real_tiles(R{})) {
    check(tiles_.replicate == 1 && tiles_.rows <= GettPanel<T>::kMostWidth &&
              tiles_.columns() <= GettPanel<T>::kMostWidth,
          "tiles of products fit the packing");
  }

  std::int64_t block_terms(std::int64_t begin, std::int64_t) const noexcept override {
    return order_.block_at(begin / kReals<T>).terms() * kReals<T>;
  }

  std::uint8_t pack_left(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                         R* panel) const noexcept override {
    const TermBlock block = order_.block_at(begin / kReals<T>);
    const GettPanel<T> packer(left_, order_, block, first, count);
    const int width = tiles_.rows;
    if constexpr (kReals<T> == 1) {
      packer.pack(width, panel);
      if (alpha_ != T(1)) {
        for (std::int64_t i = 0; i < terms * width; ++i) panel[i] *= alpha_;
      }
    } else {
      if (count < width) std::fill_n(panel, terms * width, R(0));
      packer.for_each_element([&](T x, int i, std::int64_t l) {
        const T scaled = alpha_ == T(1) ? x : alpha_ * x;
        panel[2 * l * width + i] = scaled.real();
        panel[(2 * l + 1) * width + i] = scaled.imag();
      });
    }
    return 0;
  }

  std::uint8_t pack_right(std::int64_t first, int count, std::int64_t begin, std::int64_t terms,
                          R* panel) const noexcept override {
    const TermBlock block = order_.block_at(begin / kReals<T>);
    const GettPanel<T> packer(right_, order_, block, first / kReals<T>, count / kReals<T>);
    const int width = tiles_.columns();
    if constexpr (kReals<T> == 1) {
      packer.pack(width, panel);
    } else {
      if (count < width) std::fill_n(panel, terms * width, R(0));
      packer.for_each_element([&](T x, int j, std::int64_t l) {
        R* const row = panel + 2 * l * width + 2 * j;
        row[0] = x.real();
        row[1] = x.imag();
        row[width] = -x.imag();
        row[width + 1] = x.real();
      });
    }
    return 0;
  }

  // A block that walks the right operand by one stride, its columns contiguous.
  PanelSource<R> plain_right(std::int64_t first, int count, std::int64_t begin,
                             std::int64_t terms) const noexcept override {
    if constexpr (kReals<T> == 1) {
      const bool one_run = right_.width.size() == 1 && right_.width[0].b == 1;
      if (!one_run || !order_.rest().empty() || order_.q().extent != 1) return {};
      return {right_.data + first + begin * order_.p().b, 1, order_.p().b, terms, count};
    } else {
      return {};
    }
  }

  const TileKernels<R>& tiles(std::uint8_t, std::uint8_t) const noexcept override { return tiles_; }

 private:
  const GettSide<T> left_, right_;
  const TermOrder& order_;
  const T alpha_;
  const TileKernels<R>& tiles_;
};

// f of a value of the type that a dtype is computed in.
template <typename F>
double with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF64:
      return f(0.0);
    case DType::kC64:
      return f(std::complex<float>());
    case DType::kC128:
      return f(std::complex<double>());
    default:
      return f(0.0F);
  }
}

}  // namespace

double gett_workspace(const PairSize& size, DType dtype) {
  const auto whole = [](double x) { return static_cast<std::int64_t>(std::min(x, 1e15)); };
  return with_type(dtype, [&]<typename T>(T) {
    const Blocking b = blocking<T>(whole(size.m), whole(size.n), whole(size.k));
    // A complex element is packed once on the left and twice on the right. With several threads two
    // blocks of terms are packed at a time.
    return 2 * static_cast<double>((b.rows + b.columns) * b.terms) / kReals<T>;
  });
}

double gett_columns(double n, DType dtype) {
  return with_type(dtype, [n]<typename T>(T) {
    const double tile = static_cast<double>(kernels::real_tiles(Real<T>{}).columns()) / kReals<T>;
    return std::ceil(n / tile) * tile;
  });
}

template <typename T>
void contract_gett(const GettForm& form, const T* a, const T* b, T* c, T alpha, T beta,
                   int threads) {
  const std::int64_t m = iterations(form.m), n = iterations(form.n), k = iterations(form.k);
  const std::int64_t row_stride = form.m.empty() ? n : form.m.back().c;
  const bool accumulate = beta != T(0);
  if (accumulate && beta != T(1)) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) c[i * row_stride + j] *= beta;
    }
  }
  const Blocking sizes = blocking<T>(m, n, k);
  // Runs of a line or two for both operands: longer ones for the one are shorter ones for the
  // other.
  constexpr std::int64_t kWanted = 32;
  const TermOrder order(form.k, std::max<std::int64_t>(1, sizes.terms / kReals<T>), kWanted);
  const GettOperands<T> operands(form, a, b, alpha, order);
  kernels::blocked_product<Real<T>>(
      operands, m, k * kReals<T>, n * kReals<T>,
      {reinterpret_cast<Real<T>*>(c), row_stride * kReals<T>, accumulate}, sizes, threads);
}

#define ASSAY_INSTANTIATE(T) \
  template void contract_gett<T>(const GettForm&, const T*, const T*, T*, T, T, int);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum
